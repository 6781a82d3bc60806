package tree

import (
	"crypto/sha1" // the names of blobs
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"slices"
	"strings"
)

// errChanged means that a content is not the one that a change was made for.
var errChanged = errors.New("changed in the same places")

// content returns the new content of the file of a section. If the old content is the one that the patch was made for,
// the new one must have the name in the patch. Otherwise each hunk must fit, at its line or at exactly one other place.
func (s *section) content(old []byte) ([]byte, error) {
	if s.toID == "" {
		return old, nil
	}
	same := blobName(old, len(s.toID)) == s.fromID
	if s.created {
		same = true
	}
	var content []byte
	var err error
	switch {
	case s.binary != nil && !same:
		return nil, errChanged
	case s.binary != nil:
		content, err = s.binary.apply(old)
	default:
		content, err = applyHunks(old, s.hunks, same)
	}
	if err != nil {
		return nil, err
	}
	switch {
	case s.deleted && len(content) > 0:
		return nil, errChanged
	case !s.deleted && same && blobName(content, len(s.toID)) != s.toID:
		return nil, fmt.Errorf("%w: the new content does not have the name %s", errPatch, s.toID)
	}
	return content, nil
}

// blobName returns git's name of a content; digits is 40 for SHA-1 and 64 for SHA-256.
func blobName(data []byte, digits int) string {
	var sum hash.Hash = sha1.New()
	if digits == 64 {
		sum = sha256.New()
	}
	fmt.Fprintf(sum, "blob %d\x00", len(data))
	sum.Write(data)
	return hex.EncodeToString(sum.Sum(nil))
}

func applyHunks(old []byte, hunks []hunk, exact bool) ([]byte, error) {
	lines := splitLines(string(old))
	var out strings.Builder
	done, offset := 0, 0 // the lines of old that are in out, and how many lines further than stated the last hunk was
	for _, h := range hunks {
		stated := h.at - 1
		if len(h.before) == 0 {
			stated = h.at
		}
		at := stated + offset
		if exact {
			at = stated
		}
		if !h.fits(lines, at, done) {
			if exact {
				return nil, errPatch
			}
			if at = h.find(lines, done); at < 0 {
				return nil, errChanged
			}
		}
		for _, line := range lines[done:at] {
			out.WriteString(line)
		}
		for _, line := range h.after {
			out.WriteString(line)
		}
		done, offset = at+len(h.before), at-stated
	}
	for _, line := range lines[done:] {
		out.WriteString(line)
	}
	return []byte(out.String()), nil
}

// fits reports whether a hunk can replace the lines at an index. A hunk that changes the first or the last line of its
// file fits only at the beginning or the end.
func (h *hunk) fits(lines []string, at, done int) bool {
	end := at + len(h.before)
	return at >= done && end <= len(lines) && (h.leading > 0 || at == 0) && (h.trailing > 0 || end == len(lines)) &&
		slices.Equal(lines[at:end], h.before)
}

// find returns the only index after done where the hunk fits, or -1.
func (h *hunk) find(lines []string, done int) int {
	found := -1
	for at := done; at+len(h.before) <= len(lines); at++ {
		if h.fits(lines, at, done) {
			if found >= 0 {
				return -1
			}
			found = at
		}
	}
	return found
}
