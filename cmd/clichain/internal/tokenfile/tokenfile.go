package tokenfile

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/clichain/clichain/cmd/clichain/internal/owner"
)

const (
	minToken = 16
	maxToken = 4 << 10
)

// Read reads the token in a file that only this user may read or replace. If the file does not exist, Read creates it
// with a new token and returns made true.
func Read(path string) (token string, made bool, err error) {
	token, err = readToken(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return token, false, err
	}
	if err := makeToken(path); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", false, err
	}
	token, err = readToken(path)
	return token, err == nil, err
}

func readToken(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil {
		err = owner.Check(path, info)
	}
	switch {
	case err != nil:
		return "", fmt.Errorf("%w: remove the file for a new token, or name another one", err)
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s is no regular file", path)
	case info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows": // Windows has other permissions
		return "", fmt.Errorf("%s may be read by others (mode %04o): run chmod 600 on it, or remove it for a new token",
			path, info.Mode().Perm())
	}
	data, err := io.ReadAll(io.LimitReader(f, maxToken))
	if err = cmp.Or(err, owner.CheckPath(path)); err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(data))
	if len(token) < minToken || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", fmt.Errorf("%s holds no token: it has one line of at least %d letters and digits; remove it for a new one",
			path, minToken)
	}
	return token, nil
}

// makeToken creates the file atomically, and replaces no existing file.
func makeToken(path string) error {
	dir := filepath.Dir(path)
	if err := owner.MkdirAll(dir); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".token-*") // with mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(rand.Text() + rand.Text() + "\n")
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Link(f.Name(), path)
}
