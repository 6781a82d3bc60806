package tree

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/clichain/clichain/workspace/internal/git"
)

const sectionStart = "diff --git "

// isText reports whether a part of a patch can be text in JSON and on a terminal.
func isText(data []byte) bool { return utf8.Valid(data) && bytes.IndexByte(data, 0) < 0 }

// textPatch replaces the hunks of a section that are not text by a binary patch. Git itself takes only files with a
// zero byte near their beginning for binary files.
func textPatch(ctx context.Context, r git.Repo, patch []byte, records []record) ([]byte, error) {
	if isText(patch) {
		return patch, nil
	}
	parts := bytes.SplitAfter(patch, []byte("\n"+sectionStart))
	for i := range parts[:len(parts)-1] {
		parts[i] = bytes.TrimSuffix(parts[i], []byte(sectionStart))
		parts[i+1] = slices.Concat([]byte(sectionStart), parts[i+1])
	}
	for i, part := range parts {
		if isText(part) {
			continue
		}
		var err error
		if parts[i], err = binarySection(ctx, r, part); err != nil {
			return nil, err
		}
		names, _, _ := strings.Cut(string(part[len(sectionStart):]), "\n")
		for j := range records {
			f := &records[j]
			if names == quoted("a/"+cmp.Or(f.from, f.path))+" "+quoted("b/"+f.path) {
				f.Added, f.Deleted, f.Binary = 0, 0, true
			}
		}
	}
	return bytes.Join(parts, nil), nil
}

// binarySection returns a section with a binary patch after its line "index".
func binarySection(ctx context.Context, r git.Repo, section []byte) ([]byte, error) {
	start := bytes.Index(section, []byte("\nindex "))
	hunks := bytes.Index(section, []byte("\n--- "))
	if start < 0 || hunks < start || !isText(section[:hunks]) {
		return nil, fmt.Errorf("unexpected patch of %d bytes", len(section))
	}
	ids, _, _ := strings.Cut(string(section[start+len("\nindex "):hunks]), " ")
	from, to, _ := strings.Cut(ids, "..")
	out := append(bytes.Clone(section[:hunks+1]), "GIT binary patch\n"...)
	for _, id := range []string{to, from} {
		var data []byte
		if strings.Trim(id, "0") != "" {
			var err error
			if data, err = r.Run(ctx, nil, "cat-file", "blob", id); err != nil {
				return nil, err
			}
		}
		out = appendLiteral(out, data)
	}
	return out, nil
}

// appendLiteral appends a content in the form of a binary patch.
func appendLiteral(out, data []byte) []byte {
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	_, _ = w.Write(data) // a buffer has no errors
	_ = w.Close()
	out = append(append(out, "literal "+strconv.Itoa(len(data))...), '\n')
	for chunk := range slices.Chunk(packed.Bytes(), 52) {
		length := byte('A' + len(chunk) - 1)
		if len(chunk) > 26 {
			length = byte('a' + len(chunk) - 27)
		}
		out = append(out, length)
		for part := range slices.Chunk(chunk, 4) {
			var four [4]byte
			copy(four[:], part)
			n := uint32(four[0])<<24 | uint32(four[1])<<16 | uint32(four[2])<<8 | uint32(four[3])
			var digits [5]byte
			for i := 4; i >= 0; i-- {
				digits[i] = digits85[n%85]
				n /= 85
			}
			out = append(out, digits[:]...)
		}
		out = append(out, '\n')
	}
	return append(out, '\n')
}
