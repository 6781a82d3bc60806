package tree

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/workspace/internal/git"
)

// Diff returns the changes between two trees in the objects of r, with from as Changes.Tree. If the change of a file
// has bytes that are no UTF-8 text, that change is binary in the patch. Without changes, Patch and Files are empty.
func Diff(ctx context.Context, r git.Repo, from, to string) (*call.Changes, error) {
	r.Files = r.Dir // git reads the .gitattributes of the files, and blocks if that is a FIFO
	out, err := r.Run(ctx, nil, "diff-tree", "-r", "-z", "-M", "--no-ext-diff", "--no-textconv", "--no-color",
		"--ignore-submodules=none", "--raw", "--numstat", "--patch", "--binary", "--full-index", from, to, "--")
	if err != nil {
		return nil, err
	}
	records, patch, err := parseDiff(out)
	if err == nil {
		patch, err = textPatch(ctx, r, validHeaders(patch), records)
	}
	if err != nil {
		return nil, fmt.Errorf("workspace: git diff-tree: %w", err)
	}
	changes := &call.Changes{Patch: string(patch), Files: []call.FileChange{}, Tree: from}
	for _, record := range records {
		changes.Files = append(changes.Files, record.FileChange)
	}
	slices.SortFunc(changes.Files, func(a, b call.FileChange) int { return cmp.Compare(a.Path, b.Path) })
	return changes, nil
}

// record is one file of the output of diff-tree. The paths have the bytes of the names.
type record struct {
	path, from string
	call.FileChange
}

// parseDiff parses the records of --raw, those of --numstat in the same order, an empty record, and the patch.
func parseDiff(out []byte) (records []record, patch []byte, err error) {
	next := func() string {
		field, rest, ok := bytes.Cut(out, []byte{0})
		if !ok {
			err = fmt.Errorf("unexpected end of the output")
		}
		out = rest
		return string(field)
	}
	for len(out) > 0 && out[0] == ':' {
		fields := strings.Fields(next())
		if len(fields) != 5 {
			return nil, nil, fmt.Errorf("unexpected record %q", fields)
		}
		change := record{path: next()}
		change.Mode, change.Kind = fields[1], call.ChangeModified
		switch fields[4][0] {
		case 'A':
			change.Kind = call.ChangeAdded
		case 'D':
			change.Kind, change.Mode = call.ChangeDeleted, fields[0][1:]
		case 'R':
			change.Kind, change.from = call.ChangeRenamed, change.path
			change.path = next()
			change.From = pathText(change.from)
		}
		change.Path = pathText(change.path)
		records = append(records, change)
	}
	for i := range records {
		counts := strings.SplitN(next(), "\t", 3)
		if len(counts) != 3 {
			return nil, nil, fmt.Errorf("unexpected record %q", counts)
		}
		if records[i].Kind == call.ChangeRenamed {
			next()
			next()
		}
		records[i].Binary = counts[0] == "-"
		records[i].Added, _ = strconv.Atoi(counts[0]) // "-" of a binary file is 0
		records[i].Deleted, _ = strconv.Atoi(counts[1])
	}
	if len(records) > 0 {
		next()
	}
	return records, out, err
}

// validHeaders removes the bytes from the headers of hunks that are not UTF-8. A header ends with a part of a line of
// the file, which git cuts off inside a character.
func validHeaders(patch []byte) []byte {
	if utf8.Valid(patch) {
		return patch
	}
	lines := bytes.SplitAfter(patch, []byte("\n"))
	for i, line := range lines {
		if bytes.HasPrefix(line, []byte("@@ ")) {
			lines[i] = bytes.ToValidUTF8(line, nil)
		}
	}
	return bytes.Join(lines, nil)
}
