package slots

import (
	"cmp"
	"encoding/binary"
	"hash"
	"os"
	"slices"
	"strings"

	"github.com/clichain/clichain/internal/localfile"
)

// indexEntry is an entry of an index of git.
type indexEntry struct {
	path         string
	mode         uint32
	object       string // the name of the blob as bytes
	stage        int
	stamp        stamp // zero: git compares the content
	assume, skip bool
	intent       bool
}

// writeIndex writes an index of git, in version 2 or 3 of its format.
func writeIndex(path string, entries []indexEntry, sum hash.Hash) error {
	slices.SortFunc(entries, func(a, b indexEntry) int {
		return cmp.Or(strings.Compare(a.path, b.path), cmp.Compare(a.stage, b.stage))
	})
	version := uint32(2)
	if slices.ContainsFunc(entries, func(e indexEntry) bool { return e.skip || e.intent }) {
		version = 3
	}
	data := make([]byte, 0, 100+len(entries)*120)
	data = append(data, "DIRC"...)
	data = binary.BigEndian.AppendUint32(data, version)
	data = binary.BigEndian.AppendUint32(data, uint32(len(entries)))
	for _, e := range entries {
		data = e.append(data)
	}
	sum.Write(data)
	if err := os.RemoveAll(path + ".lock"); err != nil { // of a killed git
		return err
	}
	return localfile.Replace(path, sum.Sum(data))
}

// Flags of an entry in the format of git's index.
const (
	flagAssume   = 0x8000
	flagExtended = 0x4000
	flagStage    = 12 // bits to the right
	maxName      = 0x0fff
	flagSkip     = 0x4000 // of the further flags of version 3
	flagIntent   = 0x2000
)

func (e indexEntry) append(data []byte) []byte {
	begin := len(data)
	const second = 1_000_000_000
	s := e.stamp
	for _, value := range []uint64{
		s.ctime / second, s.ctime % second, s.mtime / second, s.mtime % second, s.dev, s.ino, uint64(e.mode),
		uint64(s.uid), uint64(s.gid), s.size,
	} {
		data = binary.BigEndian.AppendUint32(data, uint32(value))
	}
	data = append(data, e.object...)
	flags := uint16(min(len(e.path), maxName)) | uint16(e.stage)<<flagStage
	if e.assume {
		flags |= flagAssume
	}
	further := uint16(0)
	if e.skip {
		further |= flagSkip
	}
	if e.intent {
		further |= flagIntent
	}
	if further != 0 {
		flags |= flagExtended
	}
	data = binary.BigEndian.AppendUint16(data, flags)
	if further != 0 {
		data = binary.BigEndian.AppendUint16(data, further)
	}
	data = append(data, e.path...)
	const align = 8
	return append(data, make([]byte, align-(len(data)-begin)%align)...)
}

// ownIndex returns the index of clichain's git directory: all copied files that are not carried.
func ownIndex(entries []entry) (list []indexEntry) {
	for _, e := range entries {
		if !e.carried {
			list = append(list, indexEntry{path: e.path, mode: e.dst.gitMode(), object: e.object, stamp: e.dst})
		}
	}
	return list
}

// copyIndex returns the index of the repository of the copy: that of the original, with the stamps of the copied files.
// So git reports the same changes in both. An entry that git would find unchanged in the original gets the stamp of the
// copied file. This also applies if a conversion, such as that of line endings, makes the file differ from its blob.
func copyIndex(index []staged, entries []entry) (list []indexEntry) {
	copied := make(map[string]stamp, len(entries))
	for _, e := range entries {
		copied[e.path] = e.dst
	}
	for _, e := range index {
		to := indexEntry{
			path: e.path, mode: e.mode, object: e.object, stage: e.stage, assume: e.assume, skip: e.skip, intent: e.intent,
		}
		if s, ok := copied[e.path]; ok && !e.changed && e.stage == 0 {
			to.stamp = s
		}
		list = append(list, to)
	}
	return list
}
