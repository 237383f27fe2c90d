/** What a store holds, as text and as JSON. */
package dev.waymark.tools.inspect;
