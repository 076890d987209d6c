from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0016_batch_rule'),
    ]

    operations = [
        migrations.AddField(
            model_name='batch',
            name='close_asked_at',
            field=models.DateTimeField(blank=True, null=True),
        ),
    ]
