/** {@code segtool estimate}: what a prompt costs before it is stored. */
package dev.waymark.tools.estimate;
