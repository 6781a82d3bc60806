package localfile

import (
	"crypto/rand"
	"os"
	"strings"
	"time"
)

const (
	tempPrefix   = "clichain-"
	tempAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567" // of rand.Text
)

var tempLength = len(rand.Text()) // which may grow with a later Go

// TempName returns a new name for the folder of one call.
func TempName() string { return tempPrefix + rand.Text() }

// staleAfter is the age at which the folder of a call cannot be in use any more.
const staleAfter = 48 * time.Hour

// What one call of RemoveStale may do, because it is in the way of what a program came for. The rest is left for the
// next call.
const (
	staleLooks = 1000                   // folders it looks at
	staleTime  = 100 * time.Millisecond // after which it looks at no more
	stalePiece = 256                    // names it reads at once
)

// RemoveStale removes the folders that TempName named in dir and that were last changed two days before now: their
// processes were killed before they could clean up. Folders of other users stay, for root too. It looks at no
// more than 1000 folders and takes little more than 100 ms, so it may leave some for the next call.
func RemoveStale(dir string, now time.Time) {
	begin := time.Now()
	removeStale(dir, now, func() bool { return time.Since(begin) > staleTime })
}

// removeStale asks late before every piece and every folder, and returns how many it looked at.
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
		if err != nil { // the end, too
			return looks
		}
	}
}

// isTempName reports whether TempName may have returned the name.
func isTempName(name string) bool {
	text, ok := strings.CutPrefix(name, tempPrefix)
	return ok && len(text) == tempLength && strings.Trim(text, tempAlphabet) == ""
}

// removeIfStale leaves the folders of other users, although root could remove them.
func removeIfStale(root *os.Root, name string, now time.Time) {
	info, err := root.Lstat(name)
	if err == nil && info.IsDir() && owned(info) && now.Sub(info.ModTime()) > staleAfter {
		_ = root.RemoveAll(name)
	}
}

// RemoveOld removes a file that was last changed before then.
func RemoveOld(path string, then time.Time) {
	if info, err := os.Lstat(path); err == nil && !info.IsDir() && info.ModTime().Before(then) {
		_ = os.Remove(path) // another user's stays
	}
}
