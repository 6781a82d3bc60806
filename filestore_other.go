//go:build !unix

package clichain

import (
	"io/fs"
	"os"
	"time"
)

const openNoWait = 0

// mine: who may write there is left to the folder.
func mine(fs.FileInfo) bool { return true }

// replaceFile waits a little for readers, which keep the file in its place.
func replaceFile(from, to string) (err error) {
	for range 10 {
		if err = os.Rename(from, to); err == nil {
			return nil
		}
		time.Sleep(5 * time.Millisecond)
	}
	return err
}
