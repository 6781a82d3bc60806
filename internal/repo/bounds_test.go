package repo_test

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// patient is a limit that decides only when a test fails that hangs: the tests need at most a tenth of it.
const patient = 30 * time.Second

// TestBoundsAreMeasured finds upper limits of measured time that a slow machine exceeds: each is patient, a measured
// time, one of testtime, or in a synctest bubble.
func TestBoundsAreMeasured(t *testing.T) {
	for _, p := range testPackages(sources(t)) {
		for _, b := range p.bounds() {
			t.Errorf("%s: in %s: a slow machine exceeds this limit; use internal/testtime", b.at, b.function)
		}
	}
}

// bound is a fixed limit of measured time in a test.
type bound struct{ function, at string }

// comparisons are functions of testify with the places of the measured time and of its limit.
var comparisons = map[string][2]int{
	"Less": {1, 2}, "LessOrEqual": {1, 2}, "Greater": {2, 1}, "GreaterOrEqual": {2, 1}, "InDelta": {2, 3}, "WithinDuration": {2, 3},
	"Eventually": {-1, 2}, "EventuallyWithT": {-1, 2},
}

func (p *testPackage) bounds() (list []bound) {
	for _, f := range p.files {
		for _, decl := range f.ast.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || p.inBubble[fn.Name.Name] {
				continue
			}
			p.function = fn.Name.Name
			name := f.dir() + "." + fn.Name.Name
			p.outsideBubbles(fn, func(n ast.Node) {
				if p.fixed(n) {
					list = append(list, bound{name, f.at(n.Pos())})
				}
			})
		}
	}
	return list
}

// fixed reports whether a node compares measured time with a limit that neither is measured nor leaves much time.
func (p *testPackage) fixed(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		if name := called(n); len(n.Args) > 1 && (name == "True" || name == "False") {
			return within(n.Args[1], func(e ast.Node) bool { return p.compares(e, name == "False") })
		}
		places, ok := comparisons[called(n)]
		if !ok || len(n.Args) <= max(places[0], places[1]) {
			return false
		}
		timed := places[0] < 0 || p.elapsed(n.Args[places[0]])
		if called(n) == "WithinDuration" {
			timed = within(n, func(e ast.Node) bool { return isCall(e, "time", "Now") })
		}
		return timed && !p.generous(n.Args[places[1]])
	case *ast.IfStmt:
		return fails(n.Body.List) && p.exceeds(n.Cond)
	case *ast.CaseClause:
		return fails(n.Body) && slices.ContainsFunc(n.List, p.exceeds)
	case *ast.CommClause:
		late, ok := n.Comm.(*ast.ExprStmt)
		return ok && fails(n.Body) && waitsFor(late.X, func(limit ast.Expr) bool { return !p.generous(limit) })
	}
	return false
}

// exceeds reports whether a condition is true if measured time exceeds a fixed limit.
func (p *testPackage) exceeds(condition ast.Expr) bool {
	return within(condition, func(e ast.Node) bool { return p.compares(e, true) })
}

// compares reports whether a node is an operator that compares measured time with a fixed limit. It is true if the time
// is longer, or else if it is shorter.
func (p *testPackage) compares(n ast.Node, longer bool) bool {
	e, ok := n.(*ast.BinaryExpr)
	if !ok {
		return false
	}
	x, y := e.X, e.Y
	switch e.Op {
	case token.GTR, token.GEQ:
	case token.LSS, token.LEQ:
		x, y = y, x
	default:
		return false
	}
	if !longer {
		x, y = y, x
	}
	return p.elapsed(x) && !p.generous(y)
}

// generous reports whether a limit is measured, or leaves much time.
func (p *testPackage) generous(limit ast.Expr) bool {
	if p.elapsed(limit) || within(limit, func(n ast.Node) bool { return isCall(n, "testtime", "Bound") }) {
		return true
	}
	if sum, ok := limit.(*ast.BinaryExpr); ok && sum.Op == token.ADD {
		return p.generous(sum.X) || p.generous(sum.Y)
	}
	d, ok := p.value(limit, p.files[0].dir())
	return ok && d >= float64(patient)
}

// waitsFor reports whether an expression is <-time.After(limit) with such a limit.
func waitsFor(expr ast.Expr, such func(ast.Expr) bool) bool {
	receive, ok := expr.(*ast.UnaryExpr)
	if !ok || !isCall(receive.X, "time", "After") {
		return false
	}
	return such(receive.X.(*ast.CallExpr).Args[0])
}

// fails reports whether statements end a test with a failure.
func fails(body []ast.Stmt) bool {
	return slices.ContainsFunc(body, func(s ast.Stmt) bool {
		return within(s, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			return ok && slices.Contains([]string{"Fatal", "Fatalf", "Error", "Errorf", "Fail", "FailNow", "panic"}, called(call))
		})
	})
}

func within(n ast.Node, such func(ast.Node) bool) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		found = found || n != nil && such(n)
		return !found
	})
	return found
}

// called is the name of the function or method that a call calls.
func called(call *ast.CallExpr) string {
	switch fun := call.Fun.(type) {
	case *ast.Ident:
		return fun.Name
	case *ast.SelectorExpr:
		return fun.Sel.Name
	}
	return ""
}

func isCall(n ast.Node, pkg, name string) bool {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return false
	}
	fun, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || fun.Sel.Name != name {
		return false
	}
	x, ok := fun.X.(*ast.Ident)
	return ok && x.Name == pkg
}

// outsideBubbles visits the nodes of a function, except those of synctest bubbles.
func (p *testPackage) outsideBubbles(fn ast.Node, visit func(ast.Node)) {
	ast.Inspect(fn, func(n ast.Node) bool {
		if n == nil || p.isBubble(n) {
			return false
		}
		visit(n)
		return true
	})
}

func TestBoundsGuard(t *testing.T) {
	const head = "package p\n\nimport \"time\"\n\nconst short, long = 2 * time.Second, time.Minute\n\n" +
		"func since(t time.Time) time.Duration { return time.Since(t) }\n\n"
	for body, found := range map[string]int{
		"require.Less(t, time.Since(start), 2*time.Second)":                                                                 1,
		"require.Less(t, time.Since(start), short)":                                                                         1,
		"require.Less(t, since(start), short+time.Second)":                                                                  1,
		"took := time.Since(start); require.LessOrEqual(t, took, 29*time.Second)":                                           1,
		"start := time.Now(); took := end.Sub(start); require.Greater(t, 9*time.Second, took)":                              1,
		"if took := time.Since(start); took > short { t.Fatal() }":                                                          1,
		"require.Eventually(t, ok, 5*time.Second, time.Millisecond)":                                                        1,
		"require.WithinDuration(t, time.Now(), at, time.Second)":                                                            1,
		"select { case <-done: case <-time.After(time.Second): t.Fatal() }":                                                 1,
		"select { case <-done: case <-time.After(time.Second): }":                                                           0,
		"select { case <-done: case <-time.After(long): t.Fatal() }":                                                        0,
		"require.Eventually(t, ok, long, time.Millisecond)":                                                                 0,
		"require.Less(t, time.Since(start), long)":                                                                          0,
		"require.Less(t, time.Since(start), testtime.Bound(short))":                                                         0,
		"require.Greater(t, time.Since(start), short)":                                                                      0,
		"took := func() time.Duration { return time.Since(start) }; require.Less(t, took(), short)":                         1,
		"_, took := both(); require.Less(t, took, short) }\nfunc both() (int, time.Duration) { return 1, time.Since(start)": 1,
		"alone := since(start); require.Less(t, since(start), 3*alone)":                                                     0,
		"require.Less(t, count, 2)":                                                                                         0,
		"if time.Since(start) < short { t.Fatal() }":                                                                        0,
		"require.False(t, time.Since(start) < short)":                                                                       0,
		"require.WithinDuration(t, want, got, time.Second)":                                                                 0,
		"require.Less(t, later.Sub(start), short)":                                                                          0,
		"bubble(t, func(t *testing.T) { require.Less(t, time.Since(start), time.Second) }) }\n" +
			"func bubble(t *testing.T, f func(*testing.T)) { synctest.Test(t, func(t *testing.T) { f(t) })": 0,
		"synctest.Test(t, func(t *testing.T) { require.Less(t, time.Since(start), time.Second) })":                    0,
		"synctest.Test(t, func(t *testing.T) { inner() })}\nfunc inner() { require.Less(t, time.Since(start), short)": 0,
	} {
		f := parsedTest(t, head+"func TestX(t *testing.T) {\n"+body+"\n}\n")
		list := testPackages([]*sourceFile{f})["a/p"].bounds()
		require.Len(t, list, found, body)
		for _, b := range list {
			require.Equal(t, "a.TestX", strings.TrimSpace(b.function))
		}
	}
}
