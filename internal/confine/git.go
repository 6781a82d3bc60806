package confine

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clichain/clichain/internal/landlock"
	"github.com/clichain/clichain/internal/localfile"
)

// maxGitFile limits the size of a file of git that is read, in bytes.
const maxGitFile = 1 << 20

// repository is the repository that contains a working directory.
type repository struct {
	top    string // the directory with the entry ".git"
	dir    string // git's directory of this worktree
	common string // git's directory that all worktrees of the repository share; dir if there is only one
}

// findRepository returns the repository that contains a directory. The files in the directory may be hostile. So the
// git directory of a linked worktree or submodule must name the worktree too, and a symbolic link called ".git" is
// ignored.
func (links *resolver) findRepository(dir string) (r repository, ok bool) {
	for top := links.real(dir); ; top = filepath.Dir(top) {
		entry := filepath.Join(top, ".git")
		info, err := os.Lstat(entry)
		switch {
		case err == nil && info.IsDir():
			return repository{top, entry, entry}, true
		case err == nil && info.Mode().IsRegular():
			return links.linked(top, entry)
		case top == filepath.Dir(top):
			return repository{}, false
		}
	}
}

// linked returns the repository of a worktree whose ".git" is a file.
func (links *resolver) linked(top, entry string) (repository, bool) {
	target, ok := strings.CutPrefix(readLine(entry), "gitdir: ")
	if !ok {
		return repository{}, false
	}
	dir := links.join(top, target)
	common := filepath.Dir(filepath.Dir(dir))
	if back := readLine(filepath.Join(dir, "gitdir")); back != "" {
		ok = links.join(dir, back) == entry && links.join(dir, readLine(filepath.Join(dir, "commondir"))) == common &&
			filepath.Base(filepath.Dir(dir)) == "worktrees"
		return repository{top, dir, common}, ok && isGitDir(common)
	}
	for _, setting := range readSettings(filepath.Join(dir, "config")) {
		if setting.name == "core.worktree" && setting.value != "" && links.join(dir, setting.value) == top {
			return repository{top, dir, dir}, isGitDir(dir)
		}
	}
	return repository{}, false
}

// isGitDir reports whether a directory looks like the git directory of a repository.
func isGitDir(dir string) bool {
	return isDir(filepath.Join(dir, "objects")) && isDir(filepath.Join(dir, "refs")) &&
		readLine(filepath.Join(dir, "HEAD")) != ""
}

// join returns the real path of a path that may be relative to a directory.
func (links *resolver) join(dir, path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return links.real(path)
}

// readLine returns the first line of a small file, or "".
func readLine(path string) string {
	data, err := localfile.Read(path, maxGitFile)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(data), "\n")
	return strings.TrimSpace(line)
}

// grantGit grants the git directories of the repository that contains a directory. A linked worktree does not get the
// hooks and the settings of its repository for writing, nor the other worktrees.
func (p *plan) grantGit(dir string, access landlock.Access) {
	r, ok := p.links.findRepository(dir)
	p.unreadable()
	hidden := func(path string) bool { return localfile.Within(r.common, path) && !p.links.copied(r.common) }
	if !ok || slices.ContainsFunc(p.except.credentials, hidden) {
		return
	}
	for _, objects := range p.links.borrowed(filepath.Join(r.common, "objects"), nil) {
		p.grantFound(objects, landlock.Read)
	}
	p.grantNamed(r.dir, access)
	if r.dir == r.common {
		return
	}
	p.grantNamed(r.common, access&^landlock.Write)
	if access&landlock.Write != 0 {
		var fixed []string
		for _, name := range []string{"hooks", "config", "config.worktree", "worktrees", "modules"} {
			fixed = append(fixed, filepath.Join(r.common, name))
		}
		p.grantExcept(r.common, landlock.Write, fixed, true)
	}
}

// maxBorrowed limits how many directories of objects a repository borrows from.
const maxBorrowed = 20

// borrowed returns the directories of objects in other repositories that a repository uses, in the order found. So a
// hostile repository can read the objects of others, but nothing else of them.
func (links *resolver) borrowed(objects string, found []string) []string {
	data, err := localfile.Read(filepath.Join(objects, "info", "alternates"), maxGitFile)
	if err != nil {
		return found
	}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") || len(found) >= maxBorrowed {
			continue
		}
		other := links.join(objects, line)
		if filepath.Base(other) == "objects" && isGitDir(filepath.Dir(other)) && !slices.Contains(found, other) {
			found = links.borrowed(other, append(found, other))
		}
	}
	return found
}
