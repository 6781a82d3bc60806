package specfile

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/clichain/clichain/internal/spelling"
)

// Decode fills the value that target points to and returns all mistakes. path is the path of n, for error texts. Fields
// have the names of their "json" tags. A field that is null or missing keeps its value.
//
// Types may be strings, int, booleans, slices, maps, structs and [encoding.TextUnmarshaler]. Decode panics for any
// other type.
func Decode(n *Node, path string, target any) []Mistake {
	d := &decoder{}
	d.value(n, path, reflect.ValueOf(target).Elem())
	return d.mistakes
}

type decoder struct{ mistakes []Mistake }

func (d *decoder) add(at Place, path, format string, args ...any) {
	d.mistakes = append(d.mistakes, Mistake{at, path, fmt.Sprintf(format, args...)})
}

var decoders map[reflect.Kind]func(*decoder, *Node, string, reflect.Value)

func init() { // avoids an initialization cycle
	decoders = map[reflect.Kind]func(*decoder, *Node, string, reflect.Value){
		reflect.String: (*decoder).text, reflect.Bool: (*decoder).boolean, reflect.Int: (*decoder).integer,
		reflect.Slice: (*decoder).list, reflect.Map: (*decoder).dict, reflect.Struct: (*decoder).object,
	}
}

func (d *decoder) value(n *Node, path string, into reflect.Value) {
	if n.Tag != "" {
		d.add(n.Place, path, "has the tag %s: remove the tag", n.Tag)
		return
	}
	if reader, ok := into.Addr().Interface().(encoding.TextUnmarshaler); ok {
		d.ownText(n, path, reader)
		return
	}
	decode, ok := decoders[into.Kind()]
	if !ok {
		panic(fmt.Sprintf("specfile: %s: unsupported type %s", path, into.Type()))
	}
	decode(d, n, path, into)
}

// isText reports whether the value is a string, and adds a mistake if it is not. It accepts values without quotes as
// written: no, 1.10 and 0x1f.
func (d *decoder) isText(n *Node, path string) bool {
	if n.Kind == Text || n.Plain && n.Kind != Null {
		return true
	}
	d.wrong(n, path, Text.String())
	return false
}

func (d *decoder) wrong(n *Node, path, want string) {
	if n.Kind == Text || n.Kind == Number || n.Kind == Bool {
		d.add(n.Place, path, "is %q, want %s", n.Value, want)
		return
	}
	d.add(n.Place, path, "is %s, want %s", n.Kind, want)
}

func (d *decoder) text(n *Node, path string, into reflect.Value) {
	if d.isText(n, path) {
		into.SetString(n.Value)
	}
}

func (d *decoder) ownText(n *Node, path string, into encoding.TextUnmarshaler) {
	if !d.isText(n, path) {
		return
	}
	if err := into.UnmarshalText([]byte(n.Value)); err != nil {
		name := strings.ToLower(reflect.TypeOf(into).Elem().Name())
		d.add(n.Place, path, "%s", strings.TrimPrefix(err.Error(), name+": "))
	}
}

func (d *decoder) boolean(n *Node, path string, into reflect.Value) {
	if n.Kind != Bool || n.Value != "true" && n.Value != "false" {
		d.wrong(n, path, Bool.String())
		return
	}
	into.SetBool(n.Value == "true")
}

func (d *decoder) integer(n *Node, path string, into reflect.Value) {
	if n.Kind != Number {
		d.wrong(n, path, "a whole number")
		return
	}
	if i, ok := d.wholeNumber(n.Place, path, n.Value); ok {
		into.SetInt(i)
	}
}

// wholeNumber accepts only decimal digits, because parsers disagree on 010 and 1_000.
func (d *decoder) wholeNumber(at Place, path, value string) (int64, bool) {
	i, err := strconv.ParseInt(value, 10, 32)
	switch {
	case err != nil && strings.Contains(err.Error(), strconv.ErrRange.Error()):
		d.add(at, path, "is out of range: %s", value)
	case err != nil || strconv.FormatInt(i, 10) != value:
		d.add(at, path, "is %q, want a whole number in decimal digits", value)
	default:
		return i, true
	}
	return 0, false
}

func (d *decoder) list(n *Node, path string, into reflect.Value) {
	if n.Kind != List {
		d.wrong(n, path, "a list")
		return
	}
	list := reflect.MakeSlice(into.Type(), len(n.Items), len(n.Items))
	for i, item := range n.Items {
		d.value(item, fmt.Sprintf("%s[%d]", path, i), list.Index(i))
	}
	into.Set(list)
}

func (d *decoder) dict(n *Node, path string, into reflect.Value) {
	if n.Kind != Map {
		d.wrong(n, path, Map.String())
		return
	}
	d.unique(n, path)
	dict := reflect.MakeMapWithSize(into.Type(), len(n.Entries))
	for _, e := range n.Entries {
		key, value := reflect.New(into.Type().Key()).Elem(), reflect.New(into.Type().Elem()).Elem()
		at := under(path, e.Key)
		if key.Kind() == reflect.String {
			key.SetString(e.Key)
		} else if i, ok := d.wholeNumber(e.Place, path, e.Key); ok {
			at = fmt.Sprintf("%s[%s]", path, e.Key)
			key.SetInt(i)
		}
		d.value(e.Value, at, value)
		dict.SetMapIndex(key, value)
	}
	into.Set(dict)
}

func (d *decoder) object(n *Node, path string, into reflect.Value) {
	if n.Kind != Map {
		d.wrong(n, path, Map.String())
		return
	}
	d.unique(n, path)
	names, fields := fieldsOf(into.Type())
	for _, e := range n.Entries {
		i := slices.Index(names, e.Key)
		switch {
		case i < 0:
			d.add(e.Place, under(path, e.Key), "%s", unknown(e.Key, names))
		case e.Value.Kind != Null:
			d.value(e.Value, under(path, e.Key), into.FieldByIndex(fields[i].Index))
		}
	}
}

// unique adds a mistake for each duplicate key of a map.
func (d *decoder) unique(n *Node, path string) {
	first := map[string]Place{}
	for _, e := range n.Entries {
		if at, twice := first[e.Key]; twice {
			d.add(e.Place, under(path, e.Key), "appears twice; the first is on line %d", at.Line)
			continue
		}
		first[e.Key] = e.Place
	}
}

func under(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// fieldsOf returns the fields that have a name in a file, including those of embedded structs.
func fieldsOf(t reflect.Type) (names []string, fields []reflect.StructField) {
	for _, field := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" {
			names, fields = append(names, name), append(fields, field)
		}
	}
	return names, fields
}

func unknown(key string, fields []string) string {
	if near := spelling.Near(key, fields); near != "" {
		return fmt.Sprintf("unknown field; did you mean %s?", near)
	}
	return "unknown field; the known fields are " + strings.Join(slices.Sorted(slices.Values(fields)), ", ")
}
