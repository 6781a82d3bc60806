package repo_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const licensesPage = "THIRD_PARTY.md"

// shipped are the modules of this repository that users link or install, by the names of their columns.
var shipped = []struct{ column, dir string }{
	{"library", "."}, {"`jetstream`", "jetstream"}, {"`otel`", "otel"}, {"`hosttools`", "hosttools"}, {"`batch`", "batch"}, {"`clichain`", "cmd/clichain"},
}

// licensed are the licenses that a linked module may have, each with a pattern of its text in which all white space is
// one blank. A module with another license fails TestLicenses: decide whether users can live with that license.
var licensed = []struct{ name, pattern string }{
	{"Apache-2.0", `(?i)Apache License,? Version 2\.0`},
	{"BSD-2-Clause", `(?i)Redistribution and use in source and binary forms(?s:.*)THIS SOFTWARE`},
	{"BSD-3-Clause", `(?i)Redistribution and use in source and binary forms(?s:.*)Neither the name`},
	{"ISC", `(?i)Permission to use, copy, modify, and(/or)? distribute this software`},
	{"MIT", `(?i)Permission is hereby granted, free of charge, to any person obtaining a copy`},
	{"MPL-2.0", `(?i)Mozilla Public License,? version 2\.0`},
}

// linked is a foreign module: its licenses, the directories that scan has read, and, by the directories of shipped, its
// versions.
type linked struct {
	licenses map[string]bool
	scanned  map[string]bool
	notice   bool
	versions map[string]string
}

// cell returns the text of the column of licenses.
func (l *linked) cell() string {
	names := slices.Sorted(maps.Keys(l.licenses))
	if l.licenses["BSD-3-Clause"] { // its text contains that of the other
		names = slices.DeleteFunc(names, func(name string) bool { return name == "BSD-2-Clause" })
	}
	if l.notice {
		names = append(names, "NOTICE")
	}
	return strings.Join(names, ", ")
}

// licenseFile matches the names of files that have a license or a notice.
var licenseFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice)([.-].*)?$`)

// scan reads the license files of a package's directory and of those above it, up to its module's. It skips the
// directories that it has read.
func (l *linked) scan(t *testing.T, dir, module string) {
	t.Helper()
	for ; !l.scanned[dir]; dir = filepath.Dir(dir) {
		l.scanned[dir] = true
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		for _, entry := range entries {
			if entry.IsDir() || !licenseFile.MatchString(entry.Name()) {
				continue
			}
			text, err := os.ReadFile(filepath.Join(dir, entry.Name()))
			require.NoError(t, err)
			notice := strings.HasPrefix(strings.ToUpper(entry.Name()), "NOTICE")
			found := licensesIn(string(text))
			require.True(t, notice || len(found) > 0, "no license of %q in %s", licensed, filepath.Join(dir, entry.Name()))
			l.notice = l.notice || notice
			for _, name := range found {
				l.licenses[name] = true
			}
		}
		if dir == module {
			return
		}
	}
}

func licensesIn(text string) (names []string) {
	text = strings.Join(strings.Fields(text), " ")
	for _, license := range licensed {
		if regexp.MustCompile(license.pattern).MatchString(text) {
			names = append(names, license.name)
		}
	}
	return names
}

// required returns the versions that the go.mod of a directory requires, by module.
func required(t *testing.T, dir string) map[string]string {
	t.Helper()
	var mod struct {
		Require []struct{ Path, Version string }
	}
	require.NoError(t, json.Unmarshal(command(t, "mod", "edit", "-json", dir+"/go.mod"), &mod))
	versions := map[string]string{}
	for _, r := range mod.Require {
		versions[r.Path] = r.Version
	}
	return versions
}

// linkedInto adds the modules with packages that the shipped module in dir links on any system.
func linkedInto(t *testing.T, dir string, all map[string]*linked) {
	t.Helper()
	versions := required(t, dir)
	packages := "./" + dir
	if dir != "cmd/clichain" { // a program links what its main package imports, and not the helpers of its tests
		packages += "/..."
	}
	const format = `{{if not .Standard}}{{.Dir}}{{"\t"}}{{.Module.Path}}{{"\t"}}{{.Module.Dir}}{{end}}`
	for _, system := range []string{"linux", "darwin", "windows"} {
		cmd := exec.Command("go", "list", "-deps", "-f", format, packages)
		cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH=amd64", "CGO_ENABLED=0")
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		require.NoError(t, err)
		for line := range strings.Lines(string(out)) {
			fields := strings.Split(strings.TrimSpace(line), "\t")
			require.Len(t, fields, 3, line)
			path := fields[1]
			if strings.HasPrefix(path, "github.com/clichain/clichain") {
				continue
			}
			if all[path] == nil {
				all[path] = &linked{licenses: map[string]bool{}, scanned: map[string]bool{}, versions: map[string]string{}}
			}
			require.NotEmpty(t, versions[path], "%s/go.mod does not require %s", dir, path)
			all[path].versions[dir] = versions[path]
			all[path].scan(t, fields[0], fields[2])
		}
	}
}

const licensesIntro = `# Licenses of third parties

This page lists the modules that the clichain modules link on Linux, macOS and Windows, each with its licenses and the
version that go.mod requires. A module with several licenses has parts under each of them. All programs also link Go's
standard library (BSD-3-Clause). ` + "`go test ./internal/repo -update`" + ` writes this page, and ` + "`TestLicenses`" + ` fails where it is out of date.

In short, distributors of a program that links these modules have these duties; the license texts are binding:

| License | Duty |
|---|---|
| BSD-2-Clause, BSD-3-Clause, ISC, MIT | include the copyright notice and the license text |
| Apache-2.0 | include the license text and, where the table says NOTICE, the file of that name |
| MPL-2.0 | say where the source of the module is; publish changes to its files |

This command prints them, for the package in the working directory:

` + "```sh" + `
go list -deps -f '{{if not .Standard}}{{.Module.Dir}}{{end}}' . | sort -u |
  while read -r dir; do
    find "$dir" -type f \( -iname 'licen[cs]e*' -o -iname 'copying*' -o -iname 'notice*' \) -exec tail -n +1 {} +
  done
` + "```" + `

`

// TestLicenses compares the page of licenses with the linked modules.
func TestLicenses(t *testing.T) {
	checkout(t)
	all := map[string]*linked{}
	header, line := "| Module | Licenses |", "|---|---|"
	for _, s := range shipped {
		linkedInto(t, s.dir, all)
		header, line = header+" "+s.column+" |", line+"---|"
	}
	require.Greater(t, len(all), 20)
	page := licensesIntro + header + "\n" + line + "\n"
	for _, path := range slices.Sorted(maps.Keys(all)) {
		l := all[path]
		require.NotEmpty(t, l.licenses, "%s has no license file", path)
		page += fmt.Sprintf("| [%s](https://pkg.go.dev/%[1]s?tab=licenses) | %s |", path, l.cell())
		for _, s := range shipped {
			page += " " + l.versions[s.dir] + " |"
		}
		page += "\n"
	}
	hold(t, licensesPage, page)
}

func TestLicensesIn(t *testing.T) {
	for text, want := range map[string][]string{
		"Apache License\n   Version 2.0, January 2004":                                     {"Apache-2.0"},
		"Permission is hereby granted, free of charge,\nto any person obtaining a copy of": {"MIT"},
		"Redistribution and use in source and binary\nforms. THIS SOFTWARE":                {"BSD-2-Clause"},
		"Mozilla Public License Version 2.0":                                               {"MPL-2.0"},
		"GNU AFFERO GENERAL PUBLIC LICENSE Version 3":                                      nil,
		"All rights reserved.":                                                             nil,
	} {
		require.Equal(t, want, licensesIn(text), text)
	}
}
