/**
 * What a model's state is made of: tensors with dtype, shape and growth, the model's identity, keys
 * of boundaries, and views of the caller's memory.
 */
package dev.waymark.layout;
