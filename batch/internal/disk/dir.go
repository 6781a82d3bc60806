package disk

import (
	"os"
	"path/filepath"
)

// probeSize is how many bytes a directory must still take: a block or two.
const probeSize = 64 << 10

// Probe returns an error if a directory cannot be written to: a queue does not say why it cannot write. It writes a
// file beside the directory, which belongs to the queue alone, and removes its name at once where the system allows
// that.
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

// Replace writes a small file such that it exists completely or not at all.
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

// writeAndClose returns the first error of writing the data to the disk.
func writeAndClose(f *os.File, data []byte) error {
	_, err := f.Write(data)
	for _, step := range []func() error{f.Sync, f.Close} {
		if failed := step(); err == nil {
			err = failed
		}
	}
	return err
}

// syncDir commits the name of a new file to the disk. Not every system can.
func syncDir(name string) {
	if d, err := os.Open(name); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}

// IsRegular reports whether a regular file has the name, or a link leads to one.
func IsRegular(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}
