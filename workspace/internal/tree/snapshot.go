package tree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/clichain/clichain/workspace/internal/git"
)

// Snapshot records all files of r.Files, as they are now, in the index and the objects of r, and returns the name of
// their tree. Files that are ignored and not in the index are left out. The files of a nested repository or a submodule
// are recorded like others. During the call, nested .git entries, special files and r.Leave are outside r.Files.
func Snapshot(ctx context.Context, r git.Repo) (tree string, err error) {
	if info, err := os.Lstat(r.Files); err != nil {
		return "", fmt.Errorf("workspace: the copy is missing: %w", err)
	} else if !info.IsDir() {
		return "", fmt.Errorf("workspace: the copy %s was replaced by a %s", r.Files, kindOf(info.Mode()))
	}
	a := aside{files: r.Files, git: r.Dir, leave: r.Leave}
	defer func() { err = errors.Join(err, a.restore()) }()
	if err := a.collect(ctx, ""); err != nil {
		return "", err
	}
	if err := dropSubmodules(ctx, r); err != nil {
		return "", err
	}
	if _, err := r.Strict(ctx, nil, "add", "--all"); err != nil {
		return "", err
	}
	out, err := r.Run(ctx, nil, "write-tree")
	return strings.TrimSpace(string(out)), err
}

// dropSubmodules removes the entries of submodules from the index, because git adds no file below such an entry.
func dropSubmodules(ctx context.Context, r git.Repo) error {
	out, err := r.Run(ctx, nil, "ls-files", "--stage", "-z")
	if err != nil {
		return err
	}
	const mode = "160000 "
	if !bytes.HasPrefix(out, []byte(mode)) && !bytes.Contains(out, []byte("\x00"+mode)) {
		return nil
	}
	var removals bytes.Buffer
	for entry := range strings.SplitSeq(string(out), "\x00") {
		if fields, path, ok := strings.Cut(entry, "\t"); ok && strings.HasPrefix(fields, mode) {
			name := strings.Fields(fields)[1]
			fmt.Fprintf(&removals, "0 %s\t%s\x00", strings.Repeat("0", len(name)), path)
		}
	}
	_, err = r.Run(ctx, &removals, "update-index", "-z", "--index-info")
	return err
}
