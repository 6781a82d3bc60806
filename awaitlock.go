package clichain

import (
	"context"
	"os"
	"path/filepath"
	"time"
)

// awaitLock locks a file until it is closed, looking for the lock at every poll
// as long as the context lasts. Without the lock the file is closed.
func awaitLock(ctx context.Context, file *os.File, poll time.Duration) error {
	ticker := time.NewTicker(poll)
	defer ticker.Stop()
	for {
		got, err := tryLock(file)
		if got {
			return nil
		}
		if err == nil {
			select {
			case <-ticker.C:
				continue
			case <-ctx.Done():
				err = ctx.Err()
			}
		}
		_ = file.Close()
		return err
	}
}

// cacheDir is this user's folder for what can be made again.
func cacheDir() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(base, "clichain")
	return dir, os.MkdirAll(dir, 0o700)
}
