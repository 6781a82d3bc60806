package slots

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/clichain/clichain/internal/localfile"
	"github.com/clichain/clichain/internal/pattern"
)

const (
	maxWarnings = 20
	maxSettings = 1 << 20 // bytes of a file of settings that is read
)

// settingsFiles are files that name other directories, with the parts of their text that are paths.
var settingsFiles = map[string]func() *regexp.Regexp{
	"go.mod":       pattern.Of(`(?m)=>\s*"?([./][^\s"]*)`),
	"go.work":      pattern.Of(`(?m)(?:^\s*|use\s+|=>\s*)"?([./][^\s"]*)`),
	"package.json": pattern.Of(`"(?:file|link|portal):([^"]+)"`),
	"Cargo.toml":   pattern.Of(`\bpath\s*=\s*"([^"]+)"`),
}

// leaving returns messages about files of the original that name paths outside it, such as "replace ../lib" in go.mod.
// The copy does not contain these paths.
func (o original) leaving(entries []entry) (messages []string) {
	for _, e := range entries {
		var targets []string
		at := filepath.Join(o.top, filepath.FromSlash(e.path))
		if e.dst.kind() == kindLink {
			if target, err := os.Readlink(at); err == nil {
				targets = []string{target}
			}
		} else if find, ok := settingsFiles[path.Base(e.path)]; ok && !e.carried {
			if data, err := localfile.Read(at, maxSettings); err == nil {
				for _, match := range find().FindAllStringSubmatch(string(data), -1) {
					targets = append(targets, match[1])
				}
			}
		}
		for _, target := range targets {
			if !o.leaves(e.path, target) {
				continue
			}
			if len(messages) == maxWarnings {
				return append(messages, "further files name paths outside the copy")
			}
			messages = append(messages, fmt.Sprintf("%q names %q, which is not in the copy", e.path, target))
		}
	}
	return messages
}

// leaves reports whether a path in a file of the original leaves it. An absolute path leaves the copy in any case.
func (o original) leaves(from, target string) bool {
	target = filepath.ToSlash(target)
	if path.IsAbs(target) || filepath.IsAbs(target) {
		return true
	}
	to := path.Join(path.Dir(from), target)
	return to == ".." || strings.HasPrefix(to, "../")
}
