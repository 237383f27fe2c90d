/**
 * Typed failures. Each says what happened, where, what was expected and found, and what to do; none
 * holds prompt text, token ids or whole keys.
 */
package dev.waymark.error;
