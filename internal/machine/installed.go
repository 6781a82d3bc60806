package machine

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/clichain/clichain/internal/localfile"
	"github.com/clichain/clichain/internal/pattern"
	"github.com/clichain/clichain/internal/semver"
)

// Installed tells which version of a program is installed, from files alone, and keeps the answer as a Finder does. The
// zero value works; it is safe for concurrent use.
type Installed struct {
	// Packages are the names by which the program's package.json is known from any other. Empty: none is.
	Packages []string

	mu      sync.Mutex
	path    string          // of the program
	stamp   localfile.Stamp // of path
	when    time.Time       // of the look
	version string
}

// Version returns the version of the program at path, "" where no file tells it: a package.json above the file that the
// path leads to, or above the path, their own names or those of their folders below one called "versions", and what the
// program once said of itself, which [Versions] keeps for this user.
func (i *Installed) Version(path string) string {
	stamp, err := localfile.StampOf(path)
	if err != nil {
		return ""
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if path != i.path || stamp != i.stamp || time.Since(i.when) > finderTTL {
		i.path, i.stamp, i.when, i.version = path, stamp, time.Now(), i.look(path)
	}
	return i.version
}

// inVersions is the path of a program that has its version in its name, or in that of its folder.
var inVersions = pattern.Of(`[/\\]versions[/\\]([^/\\]+)(?:[/\\][^/\\]+)?$`)

func (i *Installed) look(path string) string {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	for _, file := range slices.Compact([]string{real, path}) {
		if version := i.packaged(file); version != "" {
			return version
		}
		if m := inVersions().FindStringSubmatch(file); m != nil && semver.Valid(m[1]) {
			return m[1]
		}
	}
	return semver.Find(OpenVersions("").Get(path))
}

const (
	// maxPackage bounds a package.json, in bytes.
	maxPackage = 1 << 20
	// maxAbove is how many folders above a program may be those of its package.
	maxAbove = 8
)

// packaged is the version in the package.json of the program's own package.
func (i *Installed) packaged(program string) string {
	dir := filepath.Dir(program)
	for range maxAbove {
		if len(i.Packages) == 0 || dir == filepath.Dir(dir) {
			break
		}
		var p struct{ Name, Version string }
		data, err := localfile.Read(filepath.Join(dir, "package.json"), maxPackage)
		if err == nil && json.Unmarshal(data, &p) == nil && slices.Contains(i.Packages, p.Name) && semver.Valid(p.Version) {
			return p.Version
		}
		dir = filepath.Dir(dir)
	}
	return ""
}

// Drift says that a version is newer than the one with which a spec was checked; it is empty where it is not, and where
// one of them is unknown.
func Drift(version, checked string) string {
	if !semver.Less(checked, version) {
		return ""
	}
	return fmt.Sprintf("%s is newer than %s, with which its spec was checked", semver.Find(version), semver.Find(checked))
}
