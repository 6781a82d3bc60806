package clispec_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/resettime"
)

// schemaGen generates the JSON schema of a spec file from the Go types and their doc comments.
type schemaGen struct {
	t      *testing.T
	types  map[string]string      // doc comment by type
	fields map[string]string      // doc comment by "Type.Field"
	values map[string][]enumValue // by type
	defs   map[string]*jsonschema.Schema
}

// enumValue is a constant of a named type.
type enumValue struct{ name, value, doc string }

func newSchemaGen(t *testing.T) *schemaGen {
	g := &schemaGen{t: t, types: map[string]string{}, fields: map[string]string{}, values: map[string][]enumValue{}, defs: map[string]*jsonschema.Schema{}}
	for _, name := range []string{"clispec.go", "rules.go", "live.go", "models.go", "confine.go", "../call/response.go", "../call/reason.go", "../call/event.go", "../call/call.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		require.NoError(t, err)
		for _, decl := range file.Decls {
			if decl, ok := decl.(*ast.GenDecl); ok {
				g.read(decl)
			}
		}
	}
	return g
}

func (g *schemaGen) read(decl *ast.GenDecl) {
	for _, spec := range decl.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			g.types[spec.Name.Name], _, _ = strings.Cut(decl.Doc.Text(), "\n\n") // the other paragraphs concern Go programs only
			if s, ok := spec.Type.(*ast.StructType); ok {
				g.readFields(spec.Name.Name, s)
			}
		case *ast.ValueSpec:
			g.readValue(spec)
		}
	}
}

// readFields also uses a comment for the following fields that it names.
func (g *schemaGen) readFields(of string, s *ast.StructType) {
	last := ""
	for _, field := range s.Fields.List {
		for _, name := range field.Names {
			doc := field.Doc.Text() + field.Comment.Text()
			if doc == "" && regexp.MustCompile(`\b`+name.Name+`\b`).MatchString(last) {
				doc = last
			}
			g.fields[of+"."+name.Name], last = doc, doc
		}
	}
}

func (g *schemaGen) readValue(spec *ast.ValueSpec) {
	of, ok := spec.Type.(*ast.Ident)
	if !ok || len(spec.Values) != 1 {
		return
	}
	if lit, ok := spec.Values[0].(*ast.BasicLit); ok && lit.Kind == token.STRING {
		value, err := strconv.Unquote(lit.Value)
		require.NoError(g.t, err)
		name, doc := spec.Names[0].Name, spec.Comment.Text()
		if strings.HasPrefix(spec.Doc.Text(), name) { // other comments describe a group of values
			doc = spec.Doc.Text()
		}
		g.values[of.Name] = append(g.values[of.Name], enumValue{name, value, doc})
	}
}

var goLink = regexp.MustCompile(`\[\*?([A-Za-z.]+)\]`)

// words turns a comment into a description. It replaces Go names with the names in a spec file.
func (g *schemaGen) words(doc string, of reflect.Type) string {
	doc = goLink.ReplaceAllString(strings.Join(strings.Fields(doc), " "), "$1")
	names := map[string]string{}
	for _, list := range g.values {
		for _, v := range list {
			names[v.name] = v.value
		}
	}
	for a := call.AccessNone; a <= call.AccessFull; a++ {
		name := a.String()
		names["Access"+strings.ToUpper(name[:1])+name[1:]] = "access " + name
	}
	if of != nil && of.Kind() == reflect.Struct {
		for field := range of.Fields() {
			names[field.Name], _, _ = strings.Cut(field.Tag.Get("json"), ",")
		}
	}
	return regexp.MustCompile(`[A-Za-z]+`).ReplaceAllStringFunc(doc, func(word string) string {
		if name, ok := names[word]; ok {
			return name
		}
		return word
	})
}

func text(pattern string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Pattern: pattern}
}

// of returns the schema of a type. Structs and enumerations become definitions.
func (g *schemaGen) of(t reflect.Type) *jsonschema.Schema {
	name := t.Name()
	if t == reflect.TypeFor[clispec.Spec]() {
		name = "CliSpec" // the public name
	}
	switch {
	case t.Kind() == reflect.Struct:
		if g.defs[name] == nil {
			g.defs[name] = &jsonschema.Schema{} // for recursive types
			g.defs[name] = g.object(t)
		}
		return &jsonschema.Schema{Ref: "#/$defs/" + name}
	case t == reflect.TypeFor[call.Access](), t.Kind() == reflect.String && t.PkgPath() != "":
		g.defs[name] = g.enum(t)
		return &jsonschema.Schema{Ref: "#/$defs/" + name}
	case t.Kind() == reflect.Slice:
		return &jsonschema.Schema{Type: "array", Items: g.of(t.Elem())}
	case t.Kind() == reflect.Map:
		return g.dict(t)
	}
	types := map[reflect.Kind]string{reflect.String: "string", reflect.Bool: "boolean", reflect.Int: "integer"}
	require.Contains(g.t, types, t.Kind(), "the loader and this test must learn to read a %s", t)
	return &jsonschema.Schema{Type: types[t.Kind()]}
}

func (g *schemaGen) dict(t reflect.Type) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", AdditionalProperties: g.of(t.Elem())}
	switch {
	case t.Key().Kind() == reflect.Int:
		s.PropertyNames = text(`^[1-9][0-9]{0,2}$`)
	case t.Key().PkgPath() != "":
		s.PropertyNames = g.of(t.Key())
	}
	return s
}

func (g *schemaGen) object(t reflect.Type) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Description: g.words(g.types[t.Name()], t), Properties: map[string]*jsonschema.Schema{}, AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}}
	for field := range t.Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		property := g.of(field.Type)
		property.Description = g.words(g.fields[t.Name()+"."+field.Name], t)
		if refine := refinements[t.Name()+"."+field.Name]; refine != nil {
			refine(g, property)
		}
		s.Properties[name] = property
		s.PropertyOrder = append(s.PropertyOrder, name)
		if options == "" {
			s.Required = append(s.Required, name)
		}
	}
	return s
}

func (g *schemaGen) enum(t reflect.Type) *jsonschema.Schema {
	about, _, _ := strings.Cut(g.words(g.types[t.Name()], t), ". ")
	s := &jsonschema.Schema{Type: "string", Description: strings.TrimSuffix(about, ".") + "."}
	values := g.values[t.Name()]
	if t == reflect.TypeFor[call.Access]() {
		for a := call.AccessNone; a <= call.AccessFull; a++ {
			values = append(values, enumValue{value: a.String()})
		}
	}
	require.NotEmpty(g.t, values, t.Name())
	for _, v := range values {
		s.Enum = append(s.Enum, v.value)
		s.Description += g.meaning(v)
	}
	return s
}

// goFields matches the list of Event fields at the end of a comment.
var goFields = regexp.MustCompile(`: [A-Z][A-Za-z]*( text)?(, [A-Z][A-Za-z]*)*\s*$`)

// meaning returns a sentence about a value that has a comment in the source.
func (g *schemaGen) meaning(v enumValue) string {
	doc := g.words(goFields.ReplaceAllString(v.doc, ""), nil)
	if doc == "" {
		return ""
	}
	if !strings.HasPrefix(v.doc, v.name) {
		doc = v.value + ": " + doc
	}
	return "\n- " + doc
}

func enumOf[T ~string](values []T) (list []any) {
	for _, v := range values {
		list = append(list, string(v))
	}
	return list
}

// fieldName returns the schema of a request field or of the path of a file.
func fieldName() *jsonschema.Schema {
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Enum: enumOf(clispec.Fields)}, text("^[a-z][a-z0-9_]*_file$")}}
}

func isRegex(_ *schemaGen, s *jsonschema.Schema) { s.Format = "regex" }

func eachIs(item *jsonschema.Schema) func(*schemaGen, *jsonschema.Schema) {
	return func(_ *schemaGen, s *jsonschema.Schema) { s.Items = item }
}

// ruleKind replaces the reference to all event kinds.
func ruleKind(g *schemaGen, s *jsonschema.Schema) {
	s.Ref, s.Type, s.Enum = "", "string", enumOf(clispec.RuleKinds)
	for _, v := range g.values["EventKind"] {
		if slices.Contains(clispec.RuleKinds, call.EventKind(v.value)) {
			s.Description += g.meaning(v)
		}
	}
}

// confinedPath matches a path that does not depend on the working directory.
const confinedPath = `^(~/.|/.|[A-Za-z]:|\$\{)`

// refinements add the rules that Validate checks and the Go types cannot express.
var refinements = map[string]func(*schemaGen, *jsonschema.Schema){
	"Spec.Name":         func(_ *schemaGen, s *jsonschema.Schema) { s.Pattern = "^[a-z0-9][a-z0-9._-]*$" },
	"Spec.InstanceOf":   func(_ *schemaGen, s *jsonschema.Schema) { s.Pattern = "^[a-z0-9][a-z0-9._-]*$" },
	"Spec.SetEnv":       func(_ *schemaGen, s *jsonschema.Schema) { s.PropertyNames = text("^[A-Za-z_][A-Za-z0-9_]*$") },
	"Spec.Binary":       func(_ *schemaGen, s *jsonschema.Schema) { s.MinLength = new(1) },
	"Spec.ProviderSlug": func(_ *schemaGen, s *jsonschema.Schema) { s.Pattern = "^[A-Za-z0-9][A-Za-z0-9._-]*$" },
	"Spec.Outputs": func(_ *schemaGen, s *jsonschema.Schema) {
		s.Items = &jsonschema.Schema{Enum: enumOf([]clispec.OutputMode{clispec.OutputStream, clispec.OutputJSON, clispec.OutputText})}
	},
	"LiveRules.Cumulative": eachIs(&jsonschema.Schema{Enum: enumOf(clispec.Counters)}),
	"AskRule.AllowKind":    isRegex,
	"AskRule.DenyKind":     isRegex,
	"ListRule.Set": func(_ *schemaGen, s *jsonschema.Schema) {
		s.PropertyNames = &jsonschema.Schema{Enum: enumOf(clispec.ModelFields)}
	},
	"Spec.LingerMS": func(_ *schemaGen, s *jsonschema.Schema) { s.Minimum, s.Maximum = new(0.0), new(60_000.0) },
	"LineRule.CooldownS": func(_ *schemaGen, s *jsonschema.Schema) {
		s.Minimum, s.Maximum = new(0.0), new(resettime.Longest.Seconds())
	},
	"Spec.PassEnv": eachIs(text(`^[A-Za-z_][A-Za-z0-9_]*\*?$`)),
	"PassRule.Pass": func(_ *schemaGen, s *jsonschema.Schema) {
		s.MinItems, s.Items = new(1), text(`^[A-Za-z_][A-Za-z0-9_]*\*?$`)
	},
	"PassRule.Env":            eachIs(text("^[A-Za-z_][A-Za-z0-9_]*$")),
	"PassRule.Read":           eachIs(text(confinedPath)),
	"PassRule.Models":         eachIs(&jsonschema.Schema{Type: "string", MinLength: new(1)}),
	"Spec.NestedEnv":          eachIs(text(`^[A-Za-z_][A-Za-z0-9_]*\*?$`)),
	"Spec.DropEnv":            eachIs(text(`^[A-Za-z_][A-Za-z0-9_]*\*?$`)),
	"When.Set":                eachIs(fieldName()),
	"When.Unset":              eachIs(fieldName()),
	"When.Env":                eachIs(text("^[A-Za-z_][A-Za-z0-9_]*$")),
	"PreflightRule.UnlessEnv": eachIs(text("^[A-Za-z_][A-Za-z0-9_]*$")),
	"ArgRow.Args":             func(_ *schemaGen, s *jsonschema.Schema) { s.MinItems = new(1) },
	"ArgRow.Each":             func(_ *schemaGen, s *jsonschema.Schema) { s.AnyOf = fieldName().AnyOf },
	"EnvRow.Name":             func(_ *schemaGen, s *jsonschema.Schema) { s.Pattern = "^[A-Za-z_][A-Za-z0-9_]*$" },
	"FileRow.Field":           func(_ *schemaGen, s *jsonschema.Schema) { s.Pattern = "^[a-z][a-z0-9_]*$" },
	"SessionRules.ID":         isRegex,
	"StatePath.Path":          func(_ *schemaGen, s *jsonschema.Schema) { s.Pattern = confinedPath },
	"ConfineRules.Read":       eachIs(text(confinedPath)),
	"ConfineRules.Own":        func(_ *schemaGen, s *jsonschema.Schema) { s.UniqueItems = true },
	"GuardRule.Pattern":       isRegex,
	"LineRule.Pattern":        isRegex,
	"LineRule.Kind": func(_ *schemaGen, s *jsonschema.Schema) {
		s.Ref, s.Type, s.Enum = "", "string", enumOf(clispec.LineKinds)
	},
	"EventRule.Kind":    ruleKind,
	"ModelRules.Accept": eachIs(&jsonschema.Schema{Type: "string", Format: "regex", MinLength: new(1)}),
	"EventRule.Match": func(_ *schemaGen, s *jsonschema.Schema) {
		s.MinProperties, s.AdditionalProperties.Format = new(1), "regex"
	},
	"EventRule.Set": func(_ *schemaGen, s *jsonschema.Schema) {
		s.PropertyNames = &jsonschema.Schema{Enum: enumOf(slices.Sorted(slices.Values(clispec.EventFields)))}
	},
}
