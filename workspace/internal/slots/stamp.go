package slots

import "encoding/binary"

// stamp is the state of a file as the system reports it. Two equal stamps of one path mean the same content.
type stamp struct {
	dev, ino, size, mtime, ctime uint64 // the times in nanoseconds since 1970
	mode, uid, gid, links        uint32
}

// Kinds of files in stamp.mode, as on Unix.
const (
	kindMask = 0o170000
	kindFile = 0o100000
	kindLink = 0o120000
	kindDir  = 0o040000
)

func (s stamp) kind() uint32 { return s.mode & kindMask }

// gitMode returns the mode of a file or symbolic link in a tree of git.
func (s stamp) gitMode() uint32 {
	switch {
	case s.kind() == kindLink:
		return 0o120000
	case s.mode&0o100 != 0:
		return 0o100755
	}
	return 0o100644
}

const stampSize = 5*8 + 4*4

func (s stamp) append(to []byte) []byte {
	for _, value := range []uint64{s.dev, s.ino, s.size, s.mtime, s.ctime} {
		to = binary.LittleEndian.AppendUint64(to, value)
	}
	for _, value := range []uint32{s.mode, s.uid, s.gid, s.links} {
		to = binary.LittleEndian.AppendUint32(to, value)
	}
	return to
}

// readStamp reads a stamp from at least stampSize bytes.
func readStamp(from []byte) (s stamp) {
	for i, value := range []*uint64{&s.dev, &s.ino, &s.size, &s.mtime, &s.ctime} {
		*value = binary.LittleEndian.Uint64(from[8*i:])
	}
	for i, value := range []*uint32{&s.mode, &s.uid, &s.gid, &s.links} {
		*value = binary.LittleEndian.Uint32(from[5*8+4*i:])
	}
	return s
}
