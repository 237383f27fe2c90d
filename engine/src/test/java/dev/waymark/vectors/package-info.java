/** Writes stores for readers in other languages to agree with. */
package dev.waymark.vectors;
