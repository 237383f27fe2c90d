package dev.waymark.tools.inspect;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.tools.Output;

/** Something of a store, for people and for programs. */
interface View {
  void print(Output out);

  /** Adds all of it. */
  void add(ObjectNode root);
}
