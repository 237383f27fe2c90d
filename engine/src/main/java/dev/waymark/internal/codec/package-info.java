/**
 * Encodes and decodes chunks: pieces of a part that can be checked and decoded alone. Works on
 * private memory only and knows nothing of files; checksums are the caller's, and are checked
 * before anything here sees the bytes.
 */
package dev.waymark.internal.codec;
