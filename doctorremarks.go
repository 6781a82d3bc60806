package clichain

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// remarks adds what does not keep a backend from answering, but may surprise.
func (d *doctor) remarks(p *Provider, found *Diagnosis) {
	h := p.host(found.Path)
	at := placeOf(h.passed(&p.spec.CliSpec), d.cfg.Dir)
	d.remarkSession(p, found)
	if folder, ok := p.untrusted(at); ok {
		found.remark("untrusted_folder", folder+" is no folder that this CLI trusts: it leaves out what belongs to the project", p.spec.Hints[ReasonUntrustedDir])
	}
	if p.cfg.Container != nil {
		return // what follows is about this machine
	}
	found.Problems = slices.Concat(found.Problems, homeRemarks(at), pathRemarks(at), argumentRemarks(p))
	for _, s := range d.surroundings {
		found.remark(s.code, "this is "+s.name+" ("+s.sign+")", s.hint)
	}
}

// remarkSession is about who runs this: an outer agent, or root.
func (d *doctor) remarkSession(p *Provider, found *Diagnosis) {
	if err := p.spec.nested(NestedRefuse, os.Environ()); err != nil && p.cfg.Nested != NestedRefuse {
		found.remark("nested", err.Message, "nothing: the CLI does not get to see the outer session")
	}
	if os.Geteuid() != 0 {
		return
	}
	h := p.host(found.Path)
	c := call{env: h.passed(&p.spec.CliSpec)}
	for _, rule := range p.spec.Preflight {
		if rule.Root && !slices.ContainsFunc(rule.UnlessEnv, c.sees) {
			found.remark("root_bypass", "this user is root: with access full, "+rule.Message, rule.Hint)
		}
	}
}

// homeRemarks are about the folders that a CLI, or a call, writes to.
func homeRemarks(at place) (remarks []Problem) {
	info, err := os.Stat(at.home)
	switch {
	case at.home == "" || err != nil || !info.IsDir():
		remarks = append(remarks, Problem{"home_missing", fmt.Sprintf("HOME=%q is no folder", at.home), "set HOME to a folder: CLIs keep their login and their sessions there"})
	case !writable(at.home):
		remarks = append(remarks, Problem{"home_readonly", "HOME=" + at.home + " cannot be written to", "set HOME to a folder that can be written to, with the credential files in it"})
	}
	if temp := os.TempDir(); !writable(temp) {
		remarks = append(remarks, Problem{"no_temp", temp + " cannot be written to, and calls may need files there", "set TMPDIR to a folder that can be written to"})
	}
	return remarks
}

// pathRemarks are about entries of PATH that let somebody else plant a program.
func pathRemarks(at place) (remarks []Problem) {
	for _, dir := range filepath.SplitList(at.vars["PATH"]) {
		why := ""
		if !filepath.IsAbs(dir) {
			why = "depends on the working directory, and is not searched"
		} else if info, err := os.Stat(dir); err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o002 != 0 && info.Mode()&os.ModeSticky == 0 {
			why = "can be written to by every user of this machine"
		}
		if why != "" {
			remarks = append(remarks, Problem{"unsafe_path", fmt.Sprintf("%q in PATH %s", dir, why), "take it out of PATH"})
		}
	}
	return remarks
}

// argumentRemarks are about prompts that travel as an argument.
func argumentRemarks(p *Provider) []Problem {
	if way := orDefault(p.spec.Transports, TransportArgv)[0]; way != TransportArgv || p.cfg.Transport == TransportStdin {
		return nil
	}
	return []Problem{{
		"argument_limit", fmt.Sprintf("it takes the prompt as an argument: %d bytes at most, for other users of the machine to see", maxArg),
		"ask another backend for long or private prompts",
	}}
}

// untrusted returns the folder if it is none that the CLI trusts, nor is one
// above it. A CLI that never kept a trusted folder is not asked.
func (p *Provider) untrusted(at place) (folder string, ok bool) {
	for _, fact := range p.spec.Trust {
		for _, dir := range upward(at.dir, "") {
			f := fact
			f.Pattern = strings.ReplaceAll(fact.Pattern, "{dir}", regexp.QuoteMeta(dir))
			f.JSON = map[string]string{}
			for path, value := range fact.JSON {
				f.JSON[strings.ReplaceAll(path, "{dir}", gjson.Escape(dir))] = value
			}
			compiled := compileFact(f)
			if new(factReader).look(&compiled, at).known != absent {
				return "", false
			}
		}
	}
	return at.dir, len(p.spec.Trust) > 0
}
