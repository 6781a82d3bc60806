package confine

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/clichain/clichain/internal/localfile"
)

// maxGitConfigs limits how many files of git's configuration are read.
const maxGitConfigs = 50

// gitConfig returns the files and directories of the user's git configuration, and the files that it names. It ignores
// the files that the configuration of a repository names, because a repository may be hostile.
func (p *plan) gitConfig() (paths []string) {
	base := p.place.Vars["XDG_CONFIG_HOME"]
	if base == "" {
		base = filepath.Join(p.place.Home, ".config")
	}
	queue := []string{filepath.Join(p.place.Home, ".gitconfig"), filepath.Join(base, "git", "config")}
	paths = []string{filepath.Join(base, "git")}
	if file, ok := p.place.Vars["GIT_CONFIG_GLOBAL"]; ok {
		queue = []string{file}
	}
	queue = slices.DeleteFunc(queue, func(path string) bool { return !filepath.IsAbs(path) })
	for i := 0; i < len(queue) && i < maxGitConfigs; i++ {
		paths = append(paths, queue[i])
		for _, setting := range readSettings(queue[i]) {
			file := p.named(queue[i], setting.value)
			switch {
			case setting.value == "":
			case strings.HasPrefix(setting.name, "include") && strings.HasSuffix(setting.name, ".path"):
				if !slices.Contains(queue, file) {
					queue = append(queue, file)
				}
			case setting.name == "core.excludesfile", setting.name == "core.attributesfile":
				paths = append(paths, file)
			}
		}
	}
	return paths
}

// named returns the absolute path of a file that a file of git's configuration names.
func (p *plan) named(config, path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		return filepath.Join(p.place.Home, rest)
	}
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(p.links.real(config)), path)
}

// setting is one line of git's configuration. The name has lower case: "core.worktree".
type setting struct{ name, value string }

// readSettings reads a file of git's configuration. It returns none for a file that cannot be read. It does not join
// lines that end with a backslash.
func readSettings(path string) (settings []setting) {
	data, err := localfile.Read(path, maxGitFile)
	if err != nil {
		return nil
	}
	section := ""
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			end := strings.LastIndex(line, "]")
			if end < 0 {
				continue
			}
			section, line = sectionName(line[1:end]), strings.TrimSpace(line[end+1:])
		}
		name, value, ok := strings.Cut(line, "=")
		if ok && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, ";") {
			settings = append(settings, setting{section + "." + strings.ToLower(strings.TrimSpace(name)), settingValue(value)})
		}
	}
	return settings
}

// sectionName returns the name in a header such as `includeIf "gitdir:~/work/"`.
func sectionName(header string) string {
	name, sub, _ := strings.Cut(header, " ")
	name = strings.ToLower(name)
	if sub = strings.Trim(sub, ` "`); sub != "" {
		name += "." + sub
	}
	return name
}

// settingValue removes quotes and a comment from a value.
func settingValue(text string) string {
	text = strings.TrimSpace(text)
	if quoted, err := strconv.QuotedPrefix(text); err == nil {
		value, _ := strconv.Unquote(quoted) // QuotedPrefix has checked it
		return value
	}
	if end := strings.IndexAny(text, "#;"); end >= 0 {
		text = strings.TrimSpace(text[:end])
	}
	return text
}
