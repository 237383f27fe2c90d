/** The store, its sessions and its restores. */
package dev.waymark;
