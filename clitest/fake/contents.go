package fake

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// maxContent is the maximum size of a file in a record, in bytes.
const maxContent = 4 << 20

// contents reads the regular files below the temporary directory that the arguments and variables of this process name.
// It ignores other files, which are no input of the fake.
func contents() map[string][]byte {
	found := map[string][]byte{}
	for _, text := range slices.Concat(os.Args[1:], os.Environ()) {
		for _, path := range strings.FieldsFunc(text, endsPath) {
			info, err := os.Lstat(path)
			if err != nil || !info.Mode().IsRegular() || info.Size() > maxContent || !inTemp(path) {
				continue
			}
			if data, err := os.ReadFile(path); err == nil {
				found[path] = data
			}
		}
	}
	return found
}

// endsPath reports whether a character separates a path from other text in an argument, as in "--file=/tmp/a" and
// "{file:/tmp/a}".
func endsPath(r rune) bool {
	return strings.ContainsRune(" \t\n\"'={}<>|;,@()[]", r) || r == ':' && runtime.GOOS != "windows"
}

func inTemp(path string) bool {
	rest, err := filepath.Rel(os.TempDir(), path)
	return err == nil && filepath.IsAbs(path) && filepath.IsLocal(rest)
}
