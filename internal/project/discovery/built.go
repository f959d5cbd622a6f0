package discovery

// Built is a command that is built in.
func Built(name, description, text string) Item {
	return Item{
		Kind: Command, Name: name, Origin: BuiltIn, Dialect: "adze", Path: "adze", Bytes: int64(len(text)), built: text,
		Front: Front{Fields: []Field{{Key: "description", Text: description}}},
	}
}
