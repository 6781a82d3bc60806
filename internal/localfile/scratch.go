package localfile

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const tempPrefix = "clichain-"

// TempName is a name for the folder of one call.
func TempName() string { return tempPrefix + rand.Text() }

// staleAfter is when a folder is surely no running call's.
const staleAfter = 48 * time.Hour

// RemoveStale removes the folders of calls whose host was killed before it
// could tidy up. What belongs to others cannot be removed, and stays.
func RemoveStale(dir string, now time.Time) {
	letter := "[A-Z2-7]"                                                                                 // of rand.Text
	folders, _ := filepath.Glob(filepath.Join(dir, tempPrefix+strings.Repeat(letter, len(rand.Text())))) // no error: the pattern is right
	for _, folder := range folders {
		if info, err := os.Lstat(folder); err == nil && info.IsDir() && now.Sub(info.ModTime()) > staleAfter {
			_ = os.RemoveAll(folder)
		}
	}
}
