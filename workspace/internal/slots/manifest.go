package slots

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"

	"github.com/clichain/clichain/internal/localfile"
)

// entry is one copied file.
type entry struct {
	path    string // relative to the copy, with slashes
	carried bool   // a file of Source.Carry
	own     bool   // clichain's git directory has the blob
	object  string // the name of the blob as bytes; empty for a file without one, such as a carried file
	src     stamp  // in the original; zero if the file changed while it was copied
	dst     stamp  // in the copy
}

// manifest lists the files of a copy.
type manifest struct {
	entries []entry
	// written is when the manifest was written. A file that changed at this time or later could have the same stamp.
	written uint64
}

// magic begins a manifest and changes with its format.
const magic = "clichain copy 1\n"

// maxManifest limits the size of a manifest, in bytes.
const maxManifest = 4 << 30

// readManifest returns the manifest at path. If it is missing or incomplete, it has no entries.
func readManifest(path string) (m manifest) {
	data, err := localfile.ReadOwn(path, maxManifest)
	if err != nil {
		return manifest{}
	}
	s, err := lstat(path)
	if err != nil || len(data) < len(magic) || string(data[:len(magic)]) != magic {
		return manifest{}
	}
	m.written = s.mtime
	text := string(data)
	for at := len(magic); at < len(data); {
		const fixed = 2 + 1 + 1 + 2*stampSize
		if len(data)-at < fixed {
			return manifest{}
		}
		flags, object := data[at], int(data[at+1])
		length := int(binary.LittleEndian.Uint16(data[at+2:]))
		e := entry{
			carried: flags&1 != 0, own: flags&2 != 0, src: readStamp(data[at+4:]), dst: readStamp(data[at+4+stampSize:]),
		}
		at += fixed
		if len(data)-at < object+length {
			return manifest{}
		}
		e.object, e.path = text[at:at+object], text[at+object:at+object+length]
		at += object + length
		m.entries = append(m.entries, e)
	}
	return m
}

// writeManifest replaces the manifest at path.
func writeManifest(path string, entries []entry) error {
	data := make([]byte, 0, len(magic)+len(entries)*(2*stampSize+100))
	data = append(data, magic...)
	for _, e := range entries {
		if len(e.path) > 0xffff || len(e.object) > 0xff {
			return errors.New("workspace: the path of a file is too long")
		}
		flags := byte(0)
		if e.carried {
			flags |= 1
		}
		if e.own {
			flags |= 2
		}
		data = append(data, flags, byte(len(e.object)))
		data = binary.LittleEndian.AppendUint16(data, uint16(len(e.path)))
		data = e.dst.append(e.src.append(data))
		data = append(append(data, e.object...), e.path...)
	}
	return localfile.Replace(path, data)
}

func removeFile(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
