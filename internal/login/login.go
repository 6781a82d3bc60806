// Package login finds out from variables and files alone whether a CLI is logged in and who would pay, and serialises
// calls that renew the same credential. All it knows of a CLI comes from its spec; it starts no program by itself, and
// no value of a secret leaves it.
package login

import (
	"bytes"
	"cmp"
	"hash/maphash"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/grammar"
	"github.com/clichain/clichain/internal/localfile"
	"github.com/clichain/clichain/internal/pattern"
	"github.com/clichain/clichain/internal/plaintext"
	"github.com/clichain/clichain/internal/semaphore"
)

// Login is what is known of a backend's login before it is called.
type Login struct {
	State     clispec.LoginState
	Evidence  string       // the name of a variable or a file, never a value
	Billing   call.Billing // who would pay
	Doubt     string       // the evidence that leaves open who would pay
	Expired   bool         // the credential has expired and cannot be renewed
	Unproven  bool         // the credential is there, and may be refused
	renewable credential   // the one in use
	local     bool         // the working directory has evidence
	trace     uint64       // of all evidence, for the cache of Settle
}

// Sure reports whether there is a credential, which the CLI would use.
func (l Login) Sure() bool { return l.State == clispec.LoginAuthenticated || l.Unproven }

// Prober finds out how one CLI is logged in. The zero value knows no way to log in. It is safe for concurrent use.
type Prober struct {
	// Sources say what the CLI's names for the sources of its key mean.
	Sources []keySource

	ways  []compiledWay
	files factReader

	mu   sync.Mutex // guards the cached answer
	last Login
	from question
	when time.Time

	status  clispec.StatusRule
	asking  semaphore.Semaphore // guards settled
	settled map[uint64]settled
}

// question is what the cached answer depends on. It holds no value of a variable.
type question struct {
	program, dir, model string
	environ             uint64
}

// loginTTL bounds how long a change of a file stays unseen. A backend that is
// not logged in is examined again at each call.
const loginTTL = time.Second

type compiledWay struct {
	clispec.LoginWay
	files []compiledFact
	local bool // it has a file of the working directory
}

type keySource struct {
	re      *regexp.Regexp
	billing call.Billing
}

// New compiles the rules of a spec.
func New(rules clispec.LoginRules) *Prober {
	s := &Prober{status: rules.Status, asking: make(semaphore.Semaphore, 1), settled: map[uint64]settled{}}
	for _, way := range rules.Ways {
		c := compiledWay{LoginWay: way}
		for _, f := range way.Files {
			fact := compileFact(f)
			c.files, c.local = append(c.files, fact), c.local || fact.local
		}
		s.ways = append(s.ways, c)
	}
	for pattern, billing := range rules.KeySources {
		s.Sources = append(s.Sources, keySource{plaintext.Whole(pattern), billing})
	}
	return s
}

// State returns what is known of the login of a program that runs in dir ("" is the directory of this process) and is
// asked for the model. environ is the environment of this process, and vars returns the part of it that the program
// gets; State calls vars only if its last answer is over a second old or was for another question.
func (s *Prober) State(program, dir, model string, environ []string, vars func() map[string]string) Login {
	from := question{program, dir, model, digest(environ)}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.from == from && s.last.State != clispec.LoginInstalled && time.Since(s.when) < loginTTL {
		return s.last
	}
	s.from, s.last, s.when = from, s.look(PlaceOf(vars(), dir), time.Now()), time.Now()
	from.dir = "" // where the status command does not run
	s.last.trace = maphash.Comparable(digestSeed, tracedQuestion{from, s.last.trace})
	return s.last
}

var digestSeed = maphash.MakeSeed()

func digest(list []string) uint64 {
	var h maphash.Hash
	h.SetSeed(digestSeed)
	for _, s := range list {
		_, _ = h.WriteString(s) // never fails
		_ = h.WriteByte(0)
	}
	return h.Sum64()
}

// PlaceOf returns the variables, home and working directory that the CLI will
// see. On Windows the names of variables become upper case.
func PlaceOf(vars map[string]string, dir string) grammar.Place {
	at := grammar.Place{Vars: vars, Home: vars["HOME"], Dir: dir}
	if runtime.GOOS == "windows" {
		at.Vars = map[string]string{}
		for name, value := range vars {
			at.Vars[strings.ToUpper(name)] = value
		}
		at.Home = at.Vars["USERPROFILE"]
	}
	if at.Home == "" {
		if u, err := user.Current(); err == nil {
			at.Home = u.HomeDir
		}
	}
	if abs, err := filepath.Abs(dir); err == nil {
		at.Dir = abs
	}
	return at
}

// look examines the ways to log in, in order, up to the first that is surely there. If an earlier one is possible and
// bills differently, the payer is unknown.
func (s *Prober) look(at grammar.Place, now time.Time) Login {
	l := Login{State: clispec.LoginInstalled}
	if len(s.ways) == 0 {
		l.State = clispec.LoginUnknown
	}
	own := s.ownFiles(at)
	for i := range s.ways {
		way := &s.ways[i]
		found, evidence := s.holds(way, at, own, now)
		if found.known == absent {
			continue
		}
		l.local = l.local || way.local
		l.trace = maphash.Comparable(digestSeed, sighting{l.trace, i, evidence, found.stamp})
		switch {
		case l.State == clispec.LoginInstalled: // the first
			l.State, l.Evidence, l.Billing = clispec.LoginUnknown, evidence, way.Billing
			l.Expired = found.expired(now) && !found.renews
		case l.Billing != way.Billing:
			l.Doubt, l.Billing = cmp.Or(l.Doubt, l.Evidence), call.BillingUnknown
		}
		if found.known == present {
			l.State, l.Evidence, l.renewable, l.Expired = clispec.LoginAuthenticated, evidence, found, false
			if l.Unproven = way.Unproven; l.Unproven {
				l.State = clispec.LoginUnknown
			}
			return l
		}
	}
	return l
}

// tracedQuestion is a question, and the digest of the evidence for its answer.
type tracedQuestion struct {
	question
	trace uint64
}

// sighting is one step of the digest of all evidence.
type sighting struct {
	before   uint64
	way      int
	evidence string
	stamp    localfile.Stamp
}

// ownFiles are the files outside of the working directory in which a login may be.
func (s *Prober) ownFiles(at grammar.Place) (paths []string) {
	for f := range s.facts {
		if !f.local {
			more, _ := f.template.Paths(at)
			paths = append(paths, more...)
		}
	}
	return paths
}

// holds returns the credential of one way to log in, and what shows it.
func (s *Prober) holds(
	way *compiledWay, at grammar.Place, own []string, now time.Time,
) (found credential, evidence string) {
	if len(way.OS) > 0 && !slices.Contains(way.OS, runtime.GOOS) {
		return found, ""
	}
	found.known, evidence = present, "nothing that can be seen"
	for _, list := range [][]string{way.With, way.Env} {
		if len(list) == 0 {
			continue
		}
		name := grammar.FirstSet(list, at.Vars)
		if name == "" {
			return credential{}, ""
		}
		evidence = name
	}
	for i := range way.files {
		told := s.files.look(&way.files[i], at, own)
		if told.known == absent {
			return credential{}, ""
		}
		if told.expired(now) && !told.renews {
			told.known = maybe
		}
		evidence, told.known = told.path, min(told.known, found.known)
		found = told
	}
	if len(way.OS) > 0 && len(way.files) == 0 {
		evidence = "the keychain of this system"
	}
	if way.Unsure {
		found.known = min(found.known, maybe)
	}
	return found, evidence
}

var shells = pattern.Of(`^#!.*\b(sh|bash|dash|zsh|ksh|fish)\b`)

// IsShellScript reports whether a program is a script, which may set variables
// that this process does not see. It returns true for a file it cannot read.
func IsShellScript(path string) bool {
	if ext := strings.ToLower(filepath.Ext(path)); ext == ".cmd" || ext == ".bat" || ext == ".ps1" {
		return true
	}
	file, err := os.Open(path)
	if err != nil {
		return true
	}
	defer file.Close()
	head := make([]byte, 128)
	n, err := io.ReadFull(file, head)
	if err != nil && n == 0 {
		return true
	}
	line, _, _ := bytes.Cut(head[:n], []byte("\n"))
	return shells().Match(line)
}
