package proc

import "strings"

// isBatch reports whether Windows would hand the file to its command interpreter, whose quoting cannot be made safe for
// arguments from outside. Windows ignores case, and dots and spaces at the end of a name.
func isBatch(path string) bool {
	name := strings.ToLower(strings.TrimRight(path, ". "))
	return strings.HasSuffix(name, ".bat") || strings.HasSuffix(name, ".cmd")
}
