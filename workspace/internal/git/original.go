package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
)

// ErrNoRepository means that a directory is not in the work tree of a git repository.
var ErrNoRepository = errors.New("not in the work tree of a git repository")

// Original describes the repository of the user. It is never changed.
type Original struct {
	Top       string // the directory of the work tree
	GitDir    string // the .git directory, or that of this work tree
	CommonDir string // the .git directory that all work trees share
	Objects   string // the directory of the objects
	Index     string // the path of the index; the file may be missing
	Commit    string // the commit of HEAD; empty before the first commit
	Ref       string // the full name of the branch, such as "refs/heads/main"; empty for a detached HEAD
	Format    string // the format of the object names, "sha1" or "sha256"
	Shallow   bool   // the repository does not have its whole history
}

// Find returns the repository that contains dir. The error wraps ErrNoRepository if there is none.
func Find(ctx context.Context, dir string) (Original, error) {
	out, err := within(ctx, dir, "rev-parse", "--path-format=absolute", "--show-toplevel", "--absolute-git-dir",
		"--git-common-dir", "--git-path", "objects", "--git-path", "index", "--show-object-format",
		"--is-shallow-repository", "--is-inside-work-tree")
	if err != nil {
		if failure := (*Error)(nil); errors.As(err, &failure) && noRepository(failure.Stderr) {
			return Original{}, fmt.Errorf("workspace: %s is %w", dir, ErrNoRepository)
		}
		return Original{}, err
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if strings.HasPrefix(lines[0], "--") { // git prints a flag that it does not know
		return Original{}, errors.New("workspace: git is too old: install git 2.31 or later")
	}
	if len(lines) != 8 {
		return Original{}, fmt.Errorf("workspace: the repository of %q has a newline in a path, which is unsupported", dir)
	}
	o := Original{
		Top: filepath.FromSlash(lines[0]), GitDir: filepath.FromSlash(lines[1]), CommonDir: filepath.FromSlash(lines[2]),
		Objects: filepath.FromSlash(lines[3]), Index: filepath.FromSlash(lines[4]), Format: lines[5],
		Shallow: lines[6] == "true",
	}
	if again, err := within(ctx, o.Top, "rev-parse", "--absolute-git-dir"); err != nil || lines[7] != "true" ||
		strings.TrimSuffix(string(again), "\n") != lines[1] {
		return o, fmt.Errorf("workspace: the work tree of the repository %s is %s, because of core.worktree: "+
			"use a repository that is in its work tree", o.GitDir, o.Top)
	}
	if o.Ref, err = optional(within(ctx, dir, "symbolic-ref", "--quiet", "HEAD")); err != nil {
		return o, err
	}
	o.Commit, err = optional(within(ctx, dir, "rev-parse", "--quiet", "--verify", "HEAD^{commit}"))
	return o, err
}

func within(ctx context.Context, dir string, args ...string) ([]byte, error) {
	return command{dir: dir, args: args}.output(ctx)
}

func noRepository(stderr string) bool {
	return strings.Contains(stderr, "not a git repository") || strings.Contains(stderr, "must be run in a work tree")
}

// optional returns one line of output, or "" if git had the answer that there is none.
func optional(out []byte, err error) (string, error) {
	if failure := (*Error)(nil); errors.As(err, &failure) && failure.Err == nil && failure.ExitCode == 1 {
		return "", nil
	}
	return strings.TrimSuffix(string(out), "\n"), err
}

// askable are the subcommands of Ask and, for some, the only flags that they may have. None of them changes the
// repository or runs a program that its configuration names.
var askable = map[string][]string{
	"check-attr": nil, "for-each-ref": nil, "ls-tree": nil, "rev-parse": nil,
	"config": {"--get", "--get-all", "--get-regexp", "--list", "--path", "--type=bool", "--null", "-z"},
	"ls-files": {
		"--stage", "--cached", "--others", "--ignored", "--directory", "--exclude-standard", "--debug",
		"-t", "-v", "-z", "--",
	},
}

// Ask runs a subcommand that only reads, in Top, and returns its standard output. It uses the configuration of the user
// and of the system, as git itself does there. The subcommands are check-attr, config (with "--get", "--get-all",
// "--get-regexp" or "--list" first), for-each-ref, ls-files (without a comparison of contents; see Status), ls-tree and
// rev-parse. Ask returns an error for others.
func (o Original) Ask(ctx context.Context, stdin io.Reader, args ...string) ([]byte, error) {
	if !question(args) {
		return nil, fmt.Errorf("workspace: git %s is not a question to the user's repository", strings.Join(args, " "))
	}
	return command{dir: o.Top, stdin: stdin, args: args, user: true}.output(ctx)
}

func question(args []string) bool {
	if len(args) == 0 {
		return false
	}
	allowed, ok := askable[args[0]]
	if !ok || args[0] == "config" && (len(args) == 1 || !slices.Contains(allowed[:4], args[1])) {
		return false
	}
	for _, arg := range args[1:] {
		if allowed != nil && strings.HasPrefix(arg, "-") && !slices.Contains(allowed, arg) {
			return false
		}
	}
	return true
}
