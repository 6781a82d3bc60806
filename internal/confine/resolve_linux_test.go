package confine

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// An exception that appears between two calls is honored by the second.
func TestRulesHonorNewExceptions(t *testing.T) {
	for name, prepare := range map[string]func(m *machine){
		"small home":            func(*machine) {},
		"directory of settings": func(m *machine) { m.write("home/.config/app/settings", "x") },
		"large home": func(m *machine) {
			for i := range maxListed {
				m.write(fmt.Sprint("home/entry", i), "")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t, write)
			prepare(m)
			m.write("home/notes/key", "secret")
			m.check("cat ~/notes/key", true)
			require.NoError(t, os.Symlink("notes/key", m.at("home/.netrc")))
			m.check("cat ~/notes/key", false)
			m.write("home/.config/gh/hosts.yml", "secret")
			m.check("cat ~/.config/gh/hosts.yml", false)
		})
	}
}

func TestResolverWithListedDirectory(t *testing.T) {
	m := newMachine(t, read)
	require.NoError(t, os.Symlink("notes", m.at("home/dots")))
	require.NoError(t, os.Symlink("../../outside", m.at("home/notes/up")))
	links := newResolver()
	links.list([]string{m.home}, "", "notes")
	for path, want := range map[string]location{
		"home/notes":       {"home/notes", true},
		"home/missing":     {"home/missing", false},
		"home/missing/a":   {"home/missing/a", false},
		"home/dots":        {"home/notes", true},
		"home/dots/a":      {"home/notes/a", true},
		"home/dots/new":    {"home/notes/new", false},
		"home/dots/up/a":   {"outside/a", true},
		"home/dots/up/../": {"", true},
	} {
		require.Equal(t, location{filepath.Join(m.base, want.path), want.exists}, links.look(m.base+"/"+path), path)
	}
}

// A chain of links that is too long for its first link can be followed from another one.
func TestResolverWithLongChain(t *testing.T) {
	m := newMachine(t, read)
	for i := range 60 {
		require.NoError(t, os.Symlink(fmt.Sprint("link", i+1), m.at(fmt.Sprint("home/link", i))))
	}
	m.write("home/link60", "x")
	links := newResolver()
	require.Equal(t, location{m.at("home/link40"), false}, links.look(m.at("home/link0")))
	require.Equal(t, location{m.at("home/link60"), true}, links.look(m.at("home/link30")))
}

func TestResolverWithLongTarget(t *testing.T) {
	m := newMachine(t, read)
	long := strings.Repeat("d", 200) + "/" + strings.Repeat("e", 200)
	m.write("home/"+long, "x")
	require.NoError(t, os.Symlink(long, m.at("home/link")))
	require.Equal(t, location{m.at("home/" + long), true}, newResolver().look(m.at("home/link")))
}
