package backend

import (
	"errors"
	"io/fs"
	"os"
	"regexp"

	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/compose"
	"github.com/clichain/clichain/internal/grammar"
	"github.com/clichain/clichain/internal/jsontext"
	"github.com/clichain/clichain/internal/login"
	"github.com/tidwall/gjson"
)

// unnamed stands for MCP servers whose names are unknown.
const unnamed = ""

// OwnServers returns the names of the MCP servers that the user has configured, by the file of the spec. The files in a
// container are unknown.
func OwnServers(b *Backend, h *compose.Host, dir string) (names [][]string) {
	if len(b.Spec.Servers) == 0 || b.InContainer() {
		return nil
	}
	at := login.PlaceOf(h.Passed(b.Spec, ""), dir)
	for _, f := range b.Spec.Servers {
		names = append(names, ownServers(f, at))
	}
	return names
}

// ownServers returns the names of the MCP servers that the user has configured in a file.
func ownServers(f clispec.ServerFile, at grammar.Place) (names []string) {
	path, err := grammar.ReadPath(f.Path)
	if err != nil {
		return nil // Validate has refused the spec
	}
	paths, ok := path.Paths(at)
	if !ok {
		return []string{unnamed}
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			names = append(names, unnamed)
		case f.JSON != "":
			names = append(names, jsonServers(text, f.JSON)...)
		default:
			names = append(names, matchedServers(string(text), f.Pattern)...)
		}
	}
	return names
}

func matchedServers(text, pattern string) (names []string) {
	re := regexp.MustCompile(pattern)
	group := re.SubexpIndex("name")
	for _, match := range re.FindAllStringSubmatch(text, -1) {
		names = append(names, match[group])
	}
	return names
}

func jsonServers(text []byte, path string) (names []string) {
	plain := jsontext.WithoutComments(text)
	if !gjson.ValidBytes(plain) {
		return []string{unnamed}
	}
	gjson.GetBytes(plain, path).ForEach(func(name, _ gjson.Result) bool {
		names = append(names, name.String())
		return true
	})
	return names
}
