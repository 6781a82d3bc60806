// Package workspace lets agents work in a private copy of a directory, and returns their changes instead of making
// them.
package workspace
