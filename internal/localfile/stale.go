package localfile

import (
	"crypto/rand"
	"os"
	"strings"
	"time"
)

const (
	tempPrefix   = "clichain-"
	tempAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567" // the alphabet of rand.Text
)

var tempLength = len(rand.Text()) // a later Go version may use a longer text

// TempName returns a new name for the temporary directory of one call.
func TempName() string { return tempPrefix + rand.Text() }

// staleAfter is the age at which a call cannot be using its temporary directory any more.
const staleAfter = 48 * time.Hour

// Limits of one call of RemoveStale, which delays the program that calls it. The next call continues with the
// rest.
const (
	staleLooks = 1000                   // directories to examine
	staleTime  = 100 * time.Millisecond // time after which it stops
	stalePiece = 256                    // names to read at once
)

// RemoveStale removes the directories in dir that have a name of TempName and were last changed more than two
// days before now. Their processes were killed before they could clean up. RemoveStale keeps directories of
// other users, even if root calls it. It examines at most 1000 directories and takes little more than 100 ms,
// so it may leave some for the next call.
func RemoveStale(dir string, now time.Time) {
	begin := time.Now()
	removeStale(dir, now, func() bool { return time.Since(begin) > staleTime })
}

// removeStale calls late before each batch of names and before each directory, and returns how many directories
// it examined.
func removeStale(dir string, now time.Time, late func() bool) (looks int) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return 0
	}
	defer root.Close()
	folder, err := root.Open(".")
	if err != nil {
		return 0
	}
	defer folder.Close()
	for {
		if late() {
			return looks
		}
		names, err := folder.Readdirnames(stalePiece)
		for _, name := range names {
			if !isTempName(name) {
				continue
			}
			if looks == staleLooks || late() {
				return looks
			}
			looks++
			removeIfStale(root, name, now)
		}
		if err != nil { // also io.EOF
			return looks
		}
	}
}

// isTempName reports whether TempName may have returned the name.
func isTempName(name string) bool {
	text, ok := strings.CutPrefix(name, tempPrefix)
	return ok && len(text) == tempLength && strings.Trim(text, tempAlphabet) == ""
}

// removeIfStale keeps the directories of other users, although root could remove them.
func removeIfStale(root *os.Root, name string, now time.Time) {
	info, err := root.Lstat(name)
	if err == nil && info.IsDir() && owned(info) && now.Sub(info.ModTime()) > staleAfter {
		_ = root.RemoveAll(name)
	}
}

// RemoveOld removes the file at path if it was last changed before then.
func RemoveOld(path string, then time.Time) {
	if info, err := os.Lstat(path); err == nil && !info.IsDir() && info.ModTime().Before(then) {
		_ = os.Remove(path) // fails for a file of another user
	}
}
