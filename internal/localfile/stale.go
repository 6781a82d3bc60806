package localfile

import (
	"crypto/rand"
	"os"
	"path/filepath"
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

// What one call of RemoveStale or RemoveOld may do, because it is in the way of what a program came for. The rest is
// left for the next call.
const (
	staleLooks = 1000                   // entries it looks at
	staleTime  = 100 * time.Millisecond // after which it looks at no more
	stalePiece = 256                    // names it reads at once
)

// RemoveStale removes the folders that TempName named in dir and that were last changed two days before now: their
// processes were killed before they could clean up. Folders of other users cannot be removed, and stay. It looks at no
// more than 1000 folders and takes little more than 100 ms, so it may leave some for the next call.
func RemoveStale(dir string, now time.Time) { removeStale(dir, now, soonLate()) }

func removeStale(dir string, now time.Time, late func() bool) (looks int) {
	return sweep(dir, late, isTempName, func(path string) { removeIfStale(path, now) })
}

// RemoveOld removes the files in dir that were last changed before then, within the same bounds.
func RemoveOld(dir string, then time.Time) {
	all := func(string) bool { return true }
	sweep(dir, soonLate(), all, func(path string) {
		if info, err := os.Lstat(path); err == nil && !info.IsDir() && info.ModTime().Before(then) {
			_ = os.Remove(path) // another user's stays
		}
	})
}

// soonLate says from staleTime on that it is late.
func soonLate() (late func() bool) {
	begin := time.Now()
	return func() bool { return time.Since(begin) > staleTime }
}

// sweep shows the entries of dir that have such a name to look, and returns how many. It asks late before every piece
// and every entry.
func sweep(dir string, late func() bool, named func(string) bool, look func(path string)) (looks int) {
	folder, err := os.Open(dir)
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
			if !named(name) {
				continue
			}
			if looks == staleLooks || late() {
				return looks
			}
			looks++
			look(filepath.Join(dir, name))
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

func removeIfStale(path string, now time.Time) {
	if info, err := os.Lstat(path); err == nil && info.IsDir() && now.Sub(info.ModTime()) > staleAfter {
		_ = os.RemoveAll(path) // another user's stays
	}
}
