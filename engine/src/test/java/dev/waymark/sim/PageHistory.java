package dev.waymark.sim;

import java.util.ArrayList;
import java.util.List;

/**
 * What a power loss may leave of one page, oldest first. Exists only for pages whose content in
 * memory may differ from what is durable.
 *
 * <p>Invariants: never empty; all versions are frozen; {@code dirty} tells whether the next force
 * that succeeds makes the page durable, which it does not after one that failed.
 */
final class PageHistory {
  private final List<Page> versions;
  private boolean dirty;

  PageHistory(Page durable) {
    versions = new ArrayList<>(2);
    versions.add(durable);
  }

  private PageHistory(PageHistory source) {
    versions = new ArrayList<>(source.versions);
    dirty = source.dirty;
  }

  PageHistory copy() {
    return new PageHistory(this);
  }

  List<Page> versions() {
    return versions;
  }

  void add(Page version) {
    versions.add(version);
  }

  void replaceNewest(Page version) {
    versions.set(versions.size() - 1, version);
  }

  boolean isDirty() {
    return dirty;
  }

  void setDirty(boolean value) {
    dirty = value;
  }
}
