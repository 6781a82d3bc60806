package slots

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clichain/clichain/internal/localfile"
)

// copiedSettings are the settings of the original that its copy gets. No program is in them.
var copiedSettings = []string{
	"core.abbrev", "core.autocrlf", "core.eol", "core.filemode", "core.ignorecase", "core.precomposeunicode",
	"core.safecrlf", "core.sparsecheckout", "core.sparsecheckoutcone", "core.symlinks", "user.email", "user.name",
}

// fixedSettings keep hooks, signatures and background work out of the copy.
var fixedSettings = [][2]string{
	{"core.bare", "false"}, {"core.logallrefupdates", "true"}, {"core.hookspath", os.DevNull}, {"core.fsmonitor", "false"},
	{"commit.gpgsign", "false"}, {"tag.gpgsign", "false"}, {"gc.auto", "0"}, {"maintenance.auto", "false"},
}

// mergeFiles are files of the git directory that describe an operation in progress.
var mergeFiles = []string{
	"MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "CHERRY_PICK_HEAD", "REVERT_HEAD", "info/sparse-checkout",
}

// makeGitDir makes the repository of the copy anew: the commit, the branch, the references and the changes of the
// original, without its remotes, its hooks and its other settings.
func (s *Slot) makeGitDir(ctx context.Context, o original, l listing, entries []entry) error {
	dir := filepath.Join(s.Top, ".git")
	if err := emptyGitDir(dir, o.Share); err != nil {
		return err
	}
	files, err := gitDirFiles(ctx, o)
	if err != nil {
		return err
	}
	if o.Share {
		files["objects/info/alternates"] = []byte(alternate(o.repo.Objects) + "\n")
	} else if err := s.copyObjects(ctx, o.repo.Objects, filepath.Join(dir, "objects")); err != nil {
		return err
	}
	// Without such a file, the first commit identifies the project: the copy would become the place of the original in
	// the records of the CLI.
	sum := sha256.Sum256([]byte(s.Top))
	for _, name := range o.Identities {
		files[name] = []byte(hex.EncodeToString(sum[:20]))
	}
	for _, sub := range []string{"objects/info", "objects/pack", "refs/heads", "refs/tags", "info"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.FromSlash(sub)), 0o700); err != nil {
			return err
		}
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), data, 0o600); err != nil {
			return err
		}
	}
	return writeIndex(filepath.Join(dir, "index"), copyIndex(l.index, entries), newSum(o.repo)())
}

// emptyGitDir removes everything but the objects, which copyObjects checks. With shared objects, it removes these too:
// an agent may have replaced them by links or by wrong objects.
func emptyGitDir(dir string, shared bool) error {
	if err := ownDir(dir); err != nil {
		return err
	}
	names, err := readNames(dir)
	for _, name := range names {
		if name != "objects" || shared {
			err = errors.Join(err, removeAll(filepath.Join(dir, name)))
		}
	}
	return err
}

// gitDirFiles returns the files of the repository of the copy, without objects and index.
func gitDirFiles(ctx context.Context, o original) (map[string][]byte, error) {
	config, err := copyConfig(ctx, o)
	if err != nil {
		return nil, err
	}
	refs, err := o.repo.Ask(ctx, nil, "for-each-ref", "--format=%(objectname) %(refname)")
	if err != nil {
		return nil, err
	}
	excludes, err := o.repo.Excludes(ctx)
	if err != nil {
		return nil, err
	}
	head := "ref: " + o.repo.Ref
	if o.repo.Ref == "" {
		head = o.repo.Commit
	}
	files := map[string][]byte{
		"HEAD": []byte(head + "\n"), "config": config, "packed-refs": refs, "info/exclude": append(excludes, o.excludes()...),
	}
	for _, name := range mergeFiles {
		files[name] = nil
		files[name], err = localfile.Read(filepath.Join(o.repo.GitDir, filepath.FromSlash(name)), maxSettings)
		if err != nil {
			delete(files, name)
		}
	}
	if o.repo.Shallow {
		if files["shallow"], err = os.ReadFile(filepath.Join(o.repo.CommonDir, "shallow")); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// copyConfig returns the configuration of the copy.
func copyConfig(ctx context.Context, o original) ([]byte, error) {
	out, err := o.repo.Ask(ctx, nil, "config", "--list", "-z")
	if err != nil {
		return nil, err
	}
	settings := map[string]string{}
	for record := range records(out) {
		name, value, ok := strings.Cut(record, "\n")
		if ok && slices.Contains(copiedSettings, name) {
			settings[name] = value // the last one counts
		}
	}
	version := "0"
	var config strings.Builder
	if o.repo.Format != "sha1" {
		version = "1"
		fmt.Fprintf(&config, "[extensions]\n\tobjectformat = %s\n", o.repo.Format)
	}
	fixed := append([][2]string{{"core.repositoryformatversion", version}}, fixedSettings...)
	for _, name := range copiedSettings {
		if value, ok := settings[name]; ok {
			fixed = append(fixed, [2]string{name, value})
		}
	}
	quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`)
	for _, setting := range fixed {
		section, name, _ := strings.Cut(setting[0], ".")
		fmt.Fprintf(&config, "[%s]\n\t%s = \"%s\"\n", section, name, quote.Replace(setting[1]))
	}
	return []byte(config.String()), nil
}

// alternate returns a path as a line of objects/info/alternates.
func alternate(path string) string {
	if !strings.ContainsAny(path, "\"\\\n") && !strings.HasPrefix(path, "#") {
		return path
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(path) + `"`
}

// copyObjects makes dir contain the objects of the original and those that it borrows from other repositories.
func (s *Slot) copyObjects(ctx context.Context, objects, dir string) error {
	m := mirror{from: objects, to: dir, old: readManifest(s.locked.at(objectsName)), copier: &copier{}}
	seen := map[string]bool{}
	for _, from := range borrowed(objects, nil) {
		err := filepath.WalkDir(from, func(at string, entry fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil // git packs the objects of the original meanwhile
			}
			if err != nil || entry.IsDir() {
				return err
			}
			rel, err := filepath.Rel(from, at)
			rel = filepath.ToSlash(rel)
			temporary := strings.HasPrefix(path.Base(rel), "tmp_") || strings.HasPrefix(path.Base(rel), ".tmp-")
			if err == nil && !seen[rel] && !temporary && rel != "info/alternates" && rel != "info/http-alternates" {
				seen[rel] = true
				m.wanted = append(m.wanted, wanted{path: rel, from: from})
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	entries, err := m.run(ctx)
	if err != nil {
		return err
	}
	return writeManifest(s.locked.at(objectsName), entries)
}

// maxBorrowed limits from how many directories of objects a repository borrows.
const maxBorrowed = 20

// borrowed appends a directory of objects, and those that it borrows from, to found.
func borrowed(objects string, found []string) []string {
	if slices.Contains(found, objects) || len(found) > maxBorrowed {
		return found
	}
	found = append(found, objects)
	data, err := localfile.Read(filepath.Join(objects, "info", "alternates"), maxSettings)
	if err != nil {
		return found
	}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		if !filepath.IsAbs(line) {
			line = filepath.Join(objects, line)
		}
		found = borrowed(line, found)
	}
	return found
}
