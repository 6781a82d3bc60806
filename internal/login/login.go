package login

import (
	"bytes"
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
	"github.com/clichain/clichain/internal/plaintext"
)

// Login is what is known of a backend's login before it is asked.
type Login struct {
	State    clispec.LoginState
	Evidence string // a variable or a file, never a value
	Billing  call.Billing
	cold     credential // the one in use, if the CLI renews it itself
	Expired  bool
}

// Prober finds out, from variables and files alone. It belongs to a
// Provider; the zero value knows nothing.
type Prober struct {
	ways    []compiledWay
	Sources []keySource
	files   factReader

	mu   sync.Mutex
	last Login
	from lookedAt
	when time.Time
}

// lookedAt tells whether the same question was asked before. It holds no
// value of a variable.
type lookedAt struct {
	program, dir string
	environ      uint64
}

// loginTTL bounds how long a change of a file stays unseen. That a backend is
// logged out is looked at anew each time.
const loginTTL = time.Second

type compiledWay struct {
	clispec.LoginWay
	files []compiledFact
}

type keySource struct {
	re      *regexp.Regexp
	billing call.Billing
}

func New(rules clispec.LoginRules) *Prober {
	s := &Prober{}
	for _, way := range rules.Ways {
		c := compiledWay{LoginWay: way}
		for _, f := range way.Files {
			c.files = append(c.files, compileFact(f))
		}
		s.ways = append(s.ways, c)
	}
	for pattern, billing := range rules.KeySources {
		s.Sources = append(s.Sources, keySource{plaintext.Whole(pattern), billing})
	}
	return s
}

// State says what is known of the login of a program that works in dir, with
// environ, of which it sees what vars returns; "" is the directory of this
// process.
func (s *Prober) State(program, dir string, environ []string, vars func() map[string]string) Login {
	from := lookedAt{program, dir, digest(environ)}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.from == from && s.last.State != clispec.LoginInstalled && time.Since(s.when) < loginTTL {
		return s.last
	}
	s.from, s.last, s.when = from, s.look(PlaceOf(vars(), dir), time.Now()), time.Now()
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

// PlaceOf is the machine as the CLI will see it.
func PlaceOf(vars map[string]string, dir string) grammar.Place {
	if runtime.GOOS == "windows" { // folds the case of names
		folded := map[string]string{}
		for name, value := range vars {
			folded[strings.ToUpper(name)] = value
		}
		vars = folded
	}
	at := grammar.Place{Vars: vars, Home: vars["HOME"], Dir: dir}
	if runtime.GOOS == "windows" {
		at.Home = vars["USERPROFILE"]
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

// look weighs the ways in. What may be a way comes before the credential that
// is surely there: then nobody knows who pays.
func (s *Prober) look(at grammar.Place, now time.Time) Login {
	l := Login{State: clispec.LoginInstalled}
	if len(s.ways) == 0 {
		l.State = clispec.LoginUnknown
	}
	for i := range s.ways {
		found, evidence := s.holds(&s.ways[i], at, now)
		switch {
		case found.known == absent:
			continue
		case l.State == clispec.LoginInstalled: // the first
			l = Login{State: clispec.LoginUnknown, Evidence: evidence, Billing: s.ways[i].Billing, Expired: found.expired(now) && !found.renews}
		case l.Billing != s.ways[i].Billing:
			l.Billing = call.BillingUnknown
		}
		if found.known == present {
			l.State, l.Evidence, l.cold, l.Expired = clispec.LoginAuthenticated, evidence, found, false
			return l
		}
	}
	return l
}

// holds says how sure one way is, and by what.
func (s *Prober) holds(way *compiledWay, at grammar.Place, now time.Time) (found credential, evidence string) {
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
		told := s.files.look(&way.files[i], at)
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

var shells = regexp.MustCompile(`^#!.*\b(sh|bash|dash|zsh|ksh|fish)\b`)

// IsShellScript reports whether a program is a wrapper that somebody may have
// written to set variables first.
func IsShellScript(path string) bool {
	if ext := strings.ToLower(filepath.Ext(path)); ext == ".cmd" || ext == ".bat" || ext == ".ps1" {
		return true
	}
	file, err := os.Open(path)
	if err != nil {
		return true // nobody knows
	}
	defer file.Close()
	head := make([]byte, 128)
	n, err := io.ReadFull(file, head)
	if err != nil && n == 0 {
		return true
	}
	line, _, _ := bytes.Cut(head[:n], []byte("\n"))
	return shells.Match(line)
}
