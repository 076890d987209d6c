"""How the program runs, as a Django app of both products: settings, serving, watching, backup, restore, doctor."""
