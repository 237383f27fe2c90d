/** The verbs that check a store and get it back. */
package dev.waymark.tools.verify;
