"""What people say, read for what is worth keeping: sentences, speech acts, names for pronouns, dates for "tomorrow"."""
