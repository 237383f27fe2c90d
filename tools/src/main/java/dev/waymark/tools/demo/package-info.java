/** A model that really runs, and answers from what a store restored. */
package dev.waymark.tools.demo;
