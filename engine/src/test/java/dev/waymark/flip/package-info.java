/** Bits of small stores are flipped, one at a time: each is found, or nothing ever reads it. */
package dev.waymark.flip;
