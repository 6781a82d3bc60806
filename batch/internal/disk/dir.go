package disk

import (
	"os"
	"path/filepath"
)

// probeSize is the number of bytes that Probe writes.
const probeSize = 64 << 10

// Probe returns an error if a directory is not writable. A queue does not report why it cannot write. Probe writes a
// file next to the directory, because only the queue may write into it. On systems that allow it, Probe unlinks the
// file before writing.
func Probe(dir string) error {
	dir = filepath.Clean(dir)
	f, err := os.CreateTemp(filepath.Dir(dir), filepath.Base(dir)+".probe-*")
	if err != nil {
		return Explain(dir, err)
	}
	if os.Remove(f.Name()) != nil {
		defer func() { _ = os.Remove(f.Name()) }()
	}
	if err := writeAndClose(f, make([]byte, probeSize)); err != nil {
		return Explain(dir, err)
	}
	return nil
}

// Replace writes a small file atomically.
func Replace(name, text string) error {
	f, err := os.OpenFile(name+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if err := writeAndClose(f, []byte(text)); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), name); err != nil {
		return err
	}
	syncDir(filepath.Dir(name))
	return nil
}

// writeAndClose writes data to the disk, closes f and returns the first error.
func writeAndClose(f *os.File, data []byte) error {
	_, err := f.Write(data)
	for _, step := range []func() error{f.Sync, f.Close} {
		if failed := step(); err == nil {
			err = failed
		}
	}
	return err
}

// syncDir commits the name of a new file to the disk. It has no effect on systems that do not support it.
func syncDir(name string) {
	if d, err := os.Open(name); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}

// IsRegular reports whether the name refers to a regular file, directly or by a link.
func IsRegular(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}
