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

// Installed reads the installed version of a program from files, and caches it as a Finder caches a path. The
// zero value works; it is safe for concurrent use.
type Installed struct {
	// Packages are the names in a package.json that identify the program's own package. If empty, no
	// package.json is used.
	Packages []string

	mu      sync.Mutex
	path    string          // of the program
	stamp   localfile.Stamp // of path
	when    time.Time       // when the version was read
	version string
}

// Version returns the version of the program at path, or "" if no file shows it. It reads a package.json above
// the file or above the target of a symbolic link. It also uses the name of the file, or of its directory,
// below a directory called "versions", and the version that [Versions] has cached for this user.
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

// inVersions matches the path of a program whose file name, or the name of whose directory, is a version.
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
	// maxPackage limits the size of a package.json, in bytes.
	maxPackage = 1 << 20
	// maxAbove limits how many directories above a program are searched for its package.json.
	maxAbove = 8
)

// packaged returns the version in the package.json of the program's own package.
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

// Drift returns a message if a version is newer than the version that a spec was checked with. It returns "" if
// the version is not newer, or if one of the two is unknown.
func Drift(version, checked string) string {
	if !semver.Less(checked, version) {
		return ""
	}
	return fmt.Sprintf("%s is newer than %s, with which its spec was checked", semver.Find(version), semver.Find(checked))
}
