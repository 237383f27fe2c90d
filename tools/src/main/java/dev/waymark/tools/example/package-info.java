/** The example of the README, as code that is compiled and run. */
package dev.waymark.tools.example;
