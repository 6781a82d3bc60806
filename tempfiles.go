package clichain

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const tempPrefix = "clichain-"

// newTempName is a name for the folder of one call.
func newTempName() string { return tempPrefix + rand.Text() }

// staleAfter is when a folder is surely no running call's.
const staleAfter = 48 * time.Hour

// removeStale removes the folders of calls whose host was killed before it
// could tidy up. What belongs to others cannot be removed, and stays.
func removeStale(dir string, now time.Time) {
	letter := "[A-Z2-7]"                                                                                 // of rand.Text
	folders, _ := filepath.Glob(filepath.Join(dir, tempPrefix+strings.Repeat(letter, len(rand.Text())))) // no error: the pattern is right
	for _, folder := range folders {
		if info, err := os.Lstat(folder); err == nil && info.IsDir() && now.Sub(info.ModTime()) > staleAfter {
			_ = os.RemoveAll(folder)
		}
	}
}

// prepareFiles makes the call's files, and its empty directory, in a private
// folder. The returned func removes the folder, and must always be called.
func (inv *invocation) prepareFiles() (remove func(), err error) {
	remove = func() {}
	if inv.temp == "" {
		return remove, nil
	}
	if err := os.Mkdir(inv.temp, 0o700); err != nil {
		return remove, err
	}
	remove = func() { _ = os.RemoveAll(inv.temp) } // ours alone; nothing to do about a failure
	if inv.empty {
		if err := os.Mkdir(inv.dir, 0o700); err != nil {
			return remove, err
		}
	}
	for _, f := range inv.files {
		if err := os.WriteFile(f.path, []byte(f.content), 0o600); err != nil {
			return remove, err
		}
	}
	return remove, nil
}
