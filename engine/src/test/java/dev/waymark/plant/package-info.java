/**
 * Mistakes planted into copies of the engine's classes, to show that the crash explorer would find
 * them. The engine itself knows nothing of it: class files are changed as they are loaded, by a
 * class loader of their own.
 */
package dev.waymark.plant;
