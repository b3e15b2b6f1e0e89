"""Where it rests: one body of SQL over two engines, numbered migrations, the text and vector tables."""
