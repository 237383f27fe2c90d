/**
 * An example of a server that answers prompts with a model and keeps its state in a store:
 * admission before the first byte, restore, prefill, and an abort as soon as the client is gone.
 */
package dev.waymark.tools.server;
