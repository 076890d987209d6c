-- Run once, when the database server of compose.yaml starts for the first time: the marketplace has its own database.
CREATE DATABASE marketplace;
